const build = {"version":"a7e32d4779bb599e","entry":"/assets/index-7wZtrIHN.js","files":["/","/favicon.svg","/assets/act-as-BIjPzsgE.js","/assets/agent-page-C3N5mEbL.js","/assets/agents-page-CsMHTqY9.js","/assets/approvals-page-BiT8x3nR.js","/assets/arrow-down-EVtynXhL.js","/assets/arrow-left-DNyZw41P.js","/assets/arrow-up-CFT0PYMO.js","/assets/ask-back-D4GpRrHY.js","/assets/avatar-D6h9G8u1.js","/assets/away-BV1EebGN.js","/assets/back-nvUC0VBQ.js","/assets/badge-BhlDaJML.js","/assets/bell-B-OpJI_t.js","/assets/chart-CRwJyqxs.js","/assets/check-qGopJYtb.js","/assets/circle-check-BBLWeL9q.js","/assets/circle-dashed-C9SIEUgL.js","/assets/circle-x-QICR_qgR.js","/assets/client-DOlItA-2.js","/assets/confirm-BR6YcBAy.js","/assets/connect-page-D03Ep8T7.js","/assets/copy-B1Pbu-4P.js","/assets/copyable-L_Ft8EvR.js","/assets/delete-message-BvFstwKG.js","/assets/diff-BvMW9Pho.js","/assets/diff-Cdff9mYt.js","/assets/download-CCvHU0gy.js","/assets/edit-args-rC7Rbis8.js","/assets/edit-message-CTUBj7Jp.js","/assets/ellipsis-Bw9UGoI1.js","/assets/esm-DM2SiVtv.js","/assets/external-link-C0R0GHIr.js","/assets/field-B1OJD47t.js","/assets/file-text-CZe_5bLo.js","/assets/files-C95kVD3H.js","/assets/form-answer-DwA0fhU_.js","/assets/form-mmOQmwRo.js","/assets/gallery-CQqCLHNh.js","/assets/idempotency-BCK0yjPJ.js","/assets/identity-pw9oEh2b.js","/assets/index-7wZtrIHN.js","/assets/index-CsGFPwFA.css","/assets/inter-latin-wght-normal-Dx4kXJAl.woff2","/assets/invite-dialog-CBk_tWyB.js","/assets/join-page-BnDmpCzy.js","/assets/json-5eMyoQwp.js","/assets/key-round-96QR46--.js","/assets/landing-CjIl9KVb.js","/assets/link-B54KT8Bx.js","/assets/lock-ChtmX1J6.js","/assets/mail-B3rz9kVM.js","/assets/membership-CobzXROd.js","/assets/menu-uUNBScuQ.js","/assets/message-history-D_G454SZ.js","/assets/message-receipts-BPRFM4z9.js","/assets/monitor-smartphone-DN5Ql0gV.js","/assets/new-space-CnAssxuA.js","/assets/notifier-BKkf5AHJ.js","/assets/own-file-BuYRvSRr.js","/assets/palette-dialog-CtnEtRwr.js","/assets/panel-CT4KbAga.js","/assets/part-view-D0RZpEZs.js","/assets/path-of-Cx_FL7h-.js","/assets/pencil-BlmxjE5H.js","/assets/people-picker-L-eRQa-N.js","/assets/plan-list-fuskP6Fe.js","/assets/plans-page-Ca2TRubn.js","/assets/play-C5Nnjbnk.js","/assets/queries-CmHuhxZ-.js","/assets/queries-DMOMzG3Q.js","/assets/receipt-mark-CkqR90bo.js","/assets/receipts-x8twZvXm.js","/assets/removable-CMEVQf20.js","/assets/reply-2UoL4U26.js","/assets/rolldown-runtime-XKyaHtl9.js","/assets/row-menu-CfSMwd8o.js","/assets/run-head-kfUbXm08.js","/assets/run-page-DOMJd_IK.js","/assets/runners-page-1fr_d0BS.js","/assets/runs-page-B6N-WWWC.js","/assets/runs-wh3SMvnQ.js","/assets/search-page-C340JH6l.js","/assets/send-horizontal-qhDY00M3.js","/assets/send-key-BsIo28wD.js","/assets/server-words-CP_1fEYT.js","/assets/sessions-page-Cv5lBeIm.js","/assets/settings-only-Ph1TkCXM.js","/assets/settings-page-DoEojvNv.js","/assets/settled-CJv_fFPP.js","/assets/shade-D94aGu4q.js","/assets/shared.worker-DC8mH701.js","/assets/shortcut-list-DNpKIeT8.js","/assets/sign-in-CObFQKgn.js","/assets/signin-D5rSD08k.js","/assets/space-dialogs-cITWMDF3.js","/assets/space-page-CXDpaQhu.js","/assets/spaces-page-BDioxPTs.js","/assets/spans-u2r3eYE1.js","/assets/state-g915N2xj.js","/assets/still-part-CxLIs-Zg.css","/assets/still-part-cdJ1JR8I.js","/assets/subject-Bs03iyP6.js","/assets/table-CicfJK_q.js","/assets/tabs-D5ZwpZu8.js","/assets/tally-C2VWynbH.js","/assets/trash-BIaPO6Er.js","/assets/trial-DASMj4FJ.js","/assets/triangle-exclamation-point-bNEQp6i9.js","/assets/trigger-CyTFT0u2.js","/assets/ui-DFYa1-tL.js","/assets/use-reading-CajgxD1g.js","/assets/useBaseQuery-D_dGtk1X.js","/assets/useInfiniteQuery-ikjJsTZ1.js","/assets/useMatch-yXNHIvWV.js","/assets/useMutation-d-LvmkF4.js","/assets/useRouter-Dv0-mmNN.js","/assets/user-plus-BpS-idcX.js","/assets/wake-note-DheqyZP7.js","/assets/wide-CkyPnQ59.js","/assets/words-BRU0v32J.js","/assets/words-DbU0AmWI.js","/assets/words-DcMN7BWZ.js"]};
const scope = self;
const prefix = "shoal-console-";
const own = prefix + build.version;
/** What a proxy answers for a server that is away. */
const away = [
	502,
	503,
	504
];
scope.addEventListener("install", (event) => event.waitUntil(install()));
scope.addEventListener("activate", (event) => event.waitUntil(activate()));
scope.addEventListener("fetch", (event) => {
	const { request } = event;
	const { origin, pathname } = new URL(request.url);
	if (request.method !== "GET" || origin !== location.origin) return;
	if (request.mode === "navigate" && request.destination === "document") {
		if (pathname === "/" || pathname.startsWith("/s/")) event.respondWith(page(request));
	} else if (pathname.startsWith("/assets/") || pathname === "/favicon.svg") {
		event.respondWith(asset(request));
	}
});
// The whole build or nothing: a server that changes its version meanwhile has another page,
// and its own service worker.
async function install() {
	const cache = await caches.open(own);
	try {
		await cache.addAll(build.files);
		const page = await cache.match("/");
		if (!(await page?.text())?.includes(build.entry)) throw new Error("The server has another build by now.");
	} catch (error) {
		await caches.delete(own);
		throw error;
	}
	await scope.skipWaiting();
}
// Tabs that the build before has opened still load its files: one older build is kept.
async function activate() {
	const others = (await caches.keys()).filter((name) => name.startsWith(prefix) && name !== own);
	await Promise.all(others.slice(0, -1).map((name) => caches.delete(name)));
	await scope.clients.claim();
}
async function page(request) {
	const kept = async () => (await caches.open(own)).match("/");
	try {
		const answer = await fetch(request);
		return away.includes(answer.status) ? await kept() ?? answer : answer;
	} catch (error) {
		const page = await kept();
		if (page === undefined) throw error;
		return page;
	}
}
async function asset(request) {
	return await caches.match(request.url) ?? fetch(request);
}
