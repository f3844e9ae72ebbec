const build = {"version":"e06e9e43c1ef6403","entry":"/assets/index-sW97GkGu.js","files":["/","/favicon.svg","/assets/act-as-BvhFbS2p.js","/assets/admins-only-DmTX8kCA.js","/assets/agent-page-BX7hEQxa.js","/assets/agents-page-DHyNt3Xi.js","/assets/approvals-page-D-UIRtiQ.js","/assets/arrow-down-EVtynXhL.js","/assets/arrow-left-DNyZw41P.js","/assets/arrow-up-CFT0PYMO.js","/assets/ask-back-Dc-42CoT.js","/assets/avatar-D_iUk0YP.js","/assets/away-BV1EebGN.js","/assets/back-DW3HgN1s.js","/assets/badge-BhlDaJML.js","/assets/bell-B-OpJI_t.js","/assets/chart-DwL_nnTM.js","/assets/check-qGopJYtb.js","/assets/circle-check-BBLWeL9q.js","/assets/circle-dashed-C9SIEUgL.js","/assets/circle-x-QICR_qgR.js","/assets/client-DOlItA-2.js","/assets/confirm-DBDtEnX8.js","/assets/connect-page-DOxk0X0B.js","/assets/copy-B1Pbu-4P.js","/assets/copyable-L_Ft8EvR.js","/assets/delete-message-CTwZY25A.js","/assets/diff-BjWosYxl.js","/assets/diff-D1oHmmaI.js","/assets/download-CCvHU0gy.js","/assets/edit-args-DEKAbmKQ.js","/assets/edit-message-B-geoDlV.js","/assets/ellipsis-Bw9UGoI1.js","/assets/esm-uy_BJ9ek.js","/assets/external-link-C0R0GHIr.js","/assets/field-B1OJD47t.js","/assets/file-text-CZe_5bLo.js","/assets/files-CTYaq-um.js","/assets/form-Co-edtbk.js","/assets/form-answer-DeLaSR78.js","/assets/gallery-DFXsRGyh.js","/assets/idempotency-BCK0yjPJ.js","/assets/identity-pw9oEh2b.js","/assets/index-C3G7EST1.css","/assets/index-sW97GkGu.js","/assets/inter-latin-wght-normal-Dx4kXJAl.woff2","/assets/invite-dialog-BhnOA4gl.js","/assets/join-page-DJYubvSf.js","/assets/json-5eMyoQwp.js","/assets/key-round-96QR46--.js","/assets/landing-BXK8snI4.js","/assets/link-B54KT8Bx.js","/assets/lock-ChtmX1J6.js","/assets/mail-B3rz9kVM.js","/assets/membership-BtgXGNnG.js","/assets/menu-uUNBScuQ.js","/assets/message-history-BprFtY_S.js","/assets/message-receipts-ys-pPmRj.js","/assets/monitor-smartphone-DN5Ql0gV.js","/assets/new-space-BeNYwMcd.js","/assets/notifier-BKkf5AHJ.js","/assets/own-file-BuYRvSRr.js","/assets/palette-dialog-CkywJ74x.js","/assets/panel-UK0kLb1B.js","/assets/part-view-DhYqZvzp.js","/assets/path-of-Cx_FL7h-.js","/assets/pencil-BlmxjE5H.js","/assets/people-picker-D29O28bm.js","/assets/plan-list-DQjq2qAW.js","/assets/plans-page-COjs311m.js","/assets/play-C5Nnjbnk.js","/assets/queries-CAJhZeGW.js","/assets/queries-uHgdPAnQ.js","/assets/receipt-mark-DBmV4xVy.js","/assets/receipts-BlO0B2Bz.js","/assets/removable-CMEVQf20.js","/assets/reply-2UoL4U26.js","/assets/rolldown-runtime-XKyaHtl9.js","/assets/row-menu-CfQ87GTx.js","/assets/run-head-Bhh_7_z0.js","/assets/run-page-DtEanYsZ.js","/assets/runners-page-D1iMSMmU.js","/assets/runs-D8IXy9qF.js","/assets/runs-page-DMMmVwpw.js","/assets/search-page-Bhf2OtE2.js","/assets/send-horizontal-qhDY00M3.js","/assets/send-key-BsIo28wD.js","/assets/server-words-CP_1fEYT.js","/assets/sessions-page-BIw85J_7.js","/assets/settings-page-C6ziDACP.js","/assets/settled-D-LKPjvU.js","/assets/shade-D0YBy179.js","/assets/shared.worker-DC8mH701.js","/assets/shortcut-list-DAS0S0Mk.js","/assets/sign-in-CxZ9MKGN.js","/assets/signin-0QWi23o1.js","/assets/space-dialogs-CONR6Inf.js","/assets/space-page-DmF2oQOI.js","/assets/spaces-page-CA9N9s0R.js","/assets/spans-QD5k9GdA.js","/assets/state-DSRX1GDq.js","/assets/still-part-CgFKN5iv.js","/assets/still-part-CxLIs-Zg.css","/assets/subject-c3jNy9gf.js","/assets/table-TC4yRn5u.js","/assets/tabs-D5ZwpZu8.js","/assets/tally-K4NggYOu.js","/assets/trash-BIaPO6Er.js","/assets/trial-B53pWNtk.js","/assets/triangle-exclamation-point-bNEQp6i9.js","/assets/trigger-BeIfcGII.js","/assets/ui-DFYa1-tL.js","/assets/use-reading-DwhOjBQJ.js","/assets/useBaseQuery-D_dGtk1X.js","/assets/useInfiniteQuery-ikjJsTZ1.js","/assets/useMatch-yXNHIvWV.js","/assets/useMutation-Lyz454ft.js","/assets/useRouter-Dv0-mmNN.js","/assets/user-plus-BpS-idcX.js","/assets/wake-note-Nn4RFyZn.js","/assets/wide-vhBWDROV.js","/assets/words-BRU0v32J.js","/assets/words-DbU0AmWI.js","/assets/words-DcMN7BWZ.js"]};
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
