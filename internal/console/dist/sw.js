const build = {"version":"a729a1f945af80a3","entry":"/assets/index-BKpm4GZZ.js","files":["/","/favicon.svg","/assets/act-as-I1IivRSY.js","/assets/admins-only-DeyvcTxd.js","/assets/agent-page-C4ctEYhP.js","/assets/agents-page-Dl5UzcDN.js","/assets/approvals-page-B5fHy0ub.js","/assets/arrow-down-EVtynXhL.js","/assets/arrow-left-DNyZw41P.js","/assets/arrow-up-CFT0PYMO.js","/assets/ask-back-BAsiRGX5.js","/assets/avatar-De88v9Lz.js","/assets/away-BV1EebGN.js","/assets/back-DaYZStbU.js","/assets/badge-BhlDaJML.js","/assets/bell-B-OpJI_t.js","/assets/chart-DixZMlER.js","/assets/check-qGopJYtb.js","/assets/circle-check-BBLWeL9q.js","/assets/circle-dashed-C9SIEUgL.js","/assets/circle-x-QICR_qgR.js","/assets/client-DOlItA-2.js","/assets/confirm-Ck7AKj7K.js","/assets/connect-page-DesnBMPO.js","/assets/copy-B1Pbu-4P.js","/assets/copyable-L_Ft8EvR.js","/assets/delete-message-DVlvC1rm.js","/assets/diff-BIT89U7L.js","/assets/diff-DMq3cDMC.js","/assets/download-CCvHU0gy.js","/assets/edit-args-C9A4mA_C.js","/assets/edit-message-dGW94rne.js","/assets/ellipsis-Bw9UGoI1.js","/assets/esm-BoqpQanH.js","/assets/external-link-C0R0GHIr.js","/assets/field-B1OJD47t.js","/assets/file-text-CZe_5bLo.js","/assets/files-BArQe2NW.js","/assets/form-DyIiuT9_.js","/assets/form-answer-BfEqacHp.js","/assets/gallery-BHD3NafJ.js","/assets/idempotency-BCK0yjPJ.js","/assets/identity-pw9oEh2b.js","/assets/index-BKpm4GZZ.js","/assets/index-C3PBfzFC.css","/assets/inter-latin-wght-normal-Dx4kXJAl.woff2","/assets/invite-dialog-DcyIa-k_.js","/assets/join-page-DTPClE7b.js","/assets/json-5eMyoQwp.js","/assets/key-round-96QR46--.js","/assets/landing-DU0NkGaH.js","/assets/link-B54KT8Bx.js","/assets/lock-ChtmX1J6.js","/assets/mail-B3rz9kVM.js","/assets/membership-3Yg309Z9.js","/assets/menu-CMBhCWBx.js","/assets/message-history-Chbi6FdA.js","/assets/message-receipts-BNnJj1r1.js","/assets/monitor-smartphone-DN5Ql0gV.js","/assets/new-space-Byoi9vrZ.js","/assets/notifier-BKkf5AHJ.js","/assets/own-file-BuYRvSRr.js","/assets/palette-dialog-V5zUPGrZ.js","/assets/panel-DvxyKsm6.js","/assets/part-view-CMXEdDBx.js","/assets/path-of-Cx_FL7h-.js","/assets/pencil-BlmxjE5H.js","/assets/people-picker-CyTLn25w.js","/assets/plan-list-BJIdVFUR.js","/assets/plans-page-GEJ4xCcd.js","/assets/play-C5Nnjbnk.js","/assets/queries-A2BkVmoR.js","/assets/queries-W4hLZu2g.js","/assets/receipt-mark-DOZ_mMU5.js","/assets/receipts-BunQdaxi.js","/assets/removable-CMEVQf20.js","/assets/reply-2UoL4U26.js","/assets/rolldown-runtime-XKyaHtl9.js","/assets/row-menu-BZ97Hf65.js","/assets/run-head-92Hov7yD.js","/assets/run-page-NdqQMynf.js","/assets/runners-page-D0RlOXps.js","/assets/runs-BJKCOo72.js","/assets/runs-page-DcPY_FSx.js","/assets/search-page-Co3IXsjE.js","/assets/send-horizontal-qhDY00M3.js","/assets/send-key-BsIo28wD.js","/assets/server-words-CP_1fEYT.js","/assets/sessions-page-CDtMAotc.js","/assets/settings-page-CBBO8XPD.js","/assets/settled-C9bR1Ifn.js","/assets/shade-CPMRm-3l.js","/assets/shared.worker-CIw7VqgE.js","/assets/shortcut-list-C9amX9Q2.js","/assets/sign-in-Ryt7Bdbs.js","/assets/signin-Cw04Z1sm.js","/assets/space-dialogs-BLeWe4dw.js","/assets/space-page-DfFuXwRR.js","/assets/spaces-page-m2-rmbEp.js","/assets/spans-OF2AIsyJ.js","/assets/state-Ba4FTvjr.js","/assets/still-part-CxLIs-Zg.css","/assets/still-part-DcCbWQDT.js","/assets/subject-DZs2G6aT.js","/assets/table-HFW7BM0-.js","/assets/tabs-D5ZwpZu8.js","/assets/tally-D4K63JdO.js","/assets/trash-BIaPO6Er.js","/assets/trial-C24ams_q.js","/assets/triangle-exclamation-point-bNEQp6i9.js","/assets/trigger-DWbB-s1t.js","/assets/ui-DFYa1-tL.js","/assets/use-reading-DYszbTu-.js","/assets/useBaseQuery-D_dGtk1X.js","/assets/useInfiniteQuery-ikjJsTZ1.js","/assets/useMatch-yXNHIvWV.js","/assets/useMutation-CtmkVA_d.js","/assets/useRouter-Dv0-mmNN.js","/assets/user-plus-BpS-idcX.js","/assets/wake-note-BnzpwQfP.js","/assets/wide-CTsNaJuW.js","/assets/words-BRU0v32J.js","/assets/words-DbU0AmWI.js","/assets/words-DcMN7BWZ.js"]};
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
