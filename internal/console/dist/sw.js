const build = {"version":"299997acf3b614c4","entry":"/assets/index-CVLGUlW_.js","files":["/","/favicon.svg","/assets/act-as-qksaSSUH.js","/assets/admins-only-BeIphoYO.js","/assets/agent-page-OQyG22Rv.js","/assets/agents-page-DtHgARW5.js","/assets/approvals-page-DWViGUoY.js","/assets/arrow-down-EVtynXhL.js","/assets/arrow-left-DNyZw41P.js","/assets/arrow-up-CFT0PYMO.js","/assets/ask-back-BXQHwYRr.js","/assets/avatar-FHfbcaNa.js","/assets/away-BV1EebGN.js","/assets/back-DzjFsTk8.js","/assets/badge-BhlDaJML.js","/assets/bell-B-OpJI_t.js","/assets/chart-KSQ5fSt1.js","/assets/check-qGopJYtb.js","/assets/circle-check-BBLWeL9q.js","/assets/circle-dashed-C9SIEUgL.js","/assets/circle-x-QICR_qgR.js","/assets/client-DOlItA-2.js","/assets/confirm-BQ159490.js","/assets/connect-page-r0fmH4Hm.js","/assets/copy-B1Pbu-4P.js","/assets/copyable-L_Ft8EvR.js","/assets/delete-message-Dle_x08C.js","/assets/diff-ByyRM2D1.js","/assets/diff-UpMbTzlz.js","/assets/download-CCvHU0gy.js","/assets/edit-args-lLd_fMWJ.js","/assets/edit-message-D9KnXspP.js","/assets/ellipsis-Bw9UGoI1.js","/assets/esm-CD7ZSJTN.js","/assets/external-link-C0R0GHIr.js","/assets/field-B1OJD47t.js","/assets/file-text-CZe_5bLo.js","/assets/files-BIn37SF4.js","/assets/form-V8h83u6Q.js","/assets/form-answer-DsnqNUFZ.js","/assets/gallery-nsqXhDbq.js","/assets/idempotency-BCK0yjPJ.js","/assets/identity-pw9oEh2b.js","/assets/index-C3G7EST1.css","/assets/index-CVLGUlW_.js","/assets/inter-latin-wght-normal-Dx4kXJAl.woff2","/assets/invite-dialog-BofV3UwO.js","/assets/join-page-ewefpi9l.js","/assets/json-5eMyoQwp.js","/assets/key-round-96QR46--.js","/assets/landing-uOl5IoXH.js","/assets/link-B54KT8Bx.js","/assets/lock-ChtmX1J6.js","/assets/mail-B3rz9kVM.js","/assets/membership-B9wUboPA.js","/assets/menu-uUNBScuQ.js","/assets/message-history-B2Ab89FJ.js","/assets/message-receipts-Z_CTs9x5.js","/assets/monitor-smartphone-DN5Ql0gV.js","/assets/new-space-B5-ySRYi.js","/assets/notifier-BKkf5AHJ.js","/assets/own-file-BuYRvSRr.js","/assets/palette-dialog-DbMYjgnS.js","/assets/panel-CqBhVDKq.js","/assets/part-view-TuAzD6KL.js","/assets/path-of-Cx_FL7h-.js","/assets/pencil-BlmxjE5H.js","/assets/people-picker-Dj5AwD6e.js","/assets/plan-list-LjYiDXwJ.js","/assets/plans-page-B_K38aIm.js","/assets/play-C5Nnjbnk.js","/assets/queries-CNc5Ceqr.js","/assets/queries-DXEfgFFQ.js","/assets/receipt-mark-D-GITj4b.js","/assets/receipts-DDhUMZtT.js","/assets/removable-CMEVQf20.js","/assets/reply-2UoL4U26.js","/assets/rolldown-runtime-XKyaHtl9.js","/assets/row-menu-tvYITeyr.js","/assets/run-head-CDoVDiZV.js","/assets/run-page-C1EBMP3E.js","/assets/runners-page-BwMJvHUA.js","/assets/runs-B0Dg53_d.js","/assets/runs-page-BbH8LVnb.js","/assets/search-page-BPCN1oul.js","/assets/send-horizontal-qhDY00M3.js","/assets/send-key-BsIo28wD.js","/assets/server-words-CP_1fEYT.js","/assets/sessions-page-C2nB6MkV.js","/assets/settings-page-CAXWf28A.js","/assets/settled-BbeaFEgO.js","/assets/shade-C1HwAwCq.js","/assets/shared.worker-DC8mH701.js","/assets/shortcut-list-mhzExsAa.js","/assets/sign-in-Dwq39Xux.js","/assets/signin-Cx2fT0Ft.js","/assets/space-dialogs-Bx_AXGoZ.js","/assets/space-page-Lw60Fr2k.js","/assets/spaces-page-nS4a4elJ.js","/assets/spans-DH21buHi.js","/assets/state-Bn8cQqdo.js","/assets/still-part-BEbszIg_.js","/assets/still-part-CxLIs-Zg.css","/assets/subject-CPcGmao2.js","/assets/table-CDn1PiZV.js","/assets/tabs-D5ZwpZu8.js","/assets/tally-CV_mXfvp.js","/assets/trash-BIaPO6Er.js","/assets/trial-CKBhPp-b.js","/assets/triangle-exclamation-point-bNEQp6i9.js","/assets/trigger-n9GWPk6m.js","/assets/ui-DFYa1-tL.js","/assets/use-reading-BX3SvmVy.js","/assets/useBaseQuery-D_dGtk1X.js","/assets/useInfiniteQuery-ikjJsTZ1.js","/assets/useMatch-yXNHIvWV.js","/assets/useMutation-CtwyWkvw.js","/assets/useRouter-Dv0-mmNN.js","/assets/user-plus-BpS-idcX.js","/assets/wake-note-Bw5dzn3m.js","/assets/wide-xY7KWAdl.js","/assets/words-BRU0v32J.js","/assets/words-DbU0AmWI.js","/assets/words-DcMN7BWZ.js"]};
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
