const build = {"version":"129deb5493234e4b","entry":"/assets/index-Cbk4lR3A.js","files":["/","/favicon.svg","/assets/act-as-D_Ix6PHv.js","/assets/admins-only-Be8lZRhs.js","/assets/agent-page-C_OXtbEH.js","/assets/agents-page-Cga227uR.js","/assets/approvals-page--nxkf5gQ.js","/assets/arrow-down-EVtynXhL.js","/assets/arrow-left-DNyZw41P.js","/assets/arrow-up-CFT0PYMO.js","/assets/ask-back-uK9HXJee.js","/assets/avatar-Bl0u8uLZ.js","/assets/away-BV1EebGN.js","/assets/back-BAOv53Fq.js","/assets/badge-BhlDaJML.js","/assets/bell-B-OpJI_t.js","/assets/chart-c6yxPZyv.js","/assets/check-qGopJYtb.js","/assets/circle-check-BBLWeL9q.js","/assets/circle-dashed-C9SIEUgL.js","/assets/circle-x-QICR_qgR.js","/assets/client-DOlItA-2.js","/assets/confirm-ClrFxr8d.js","/assets/connect-page-vZDP_tr8.js","/assets/copy-B1Pbu-4P.js","/assets/copyable-L_Ft8EvR.js","/assets/delete-message-DBxbFE9d.js","/assets/diff-Cm4RBdnb.js","/assets/diff-Dy76UC4-.js","/assets/download-CCvHU0gy.js","/assets/edit-args-RIEA1NdQ.js","/assets/edit-message-Cyex4Utl.js","/assets/ellipsis-Bw9UGoI1.js","/assets/esm-DZBVd7KP.js","/assets/external-link-C0R0GHIr.js","/assets/field-B1OJD47t.js","/assets/file-text-CZe_5bLo.js","/assets/files-BTspvUlo.js","/assets/form-answer-DVnZ1FCv.js","/assets/form-f86Ivqin.js","/assets/gallery-CfFUVxAm.js","/assets/idempotency-BCK0yjPJ.js","/assets/identity-pw9oEh2b.js","/assets/index-C3PBfzFC.css","/assets/index-Cbk4lR3A.js","/assets/inter-latin-wght-normal-Dx4kXJAl.woff2","/assets/invite-dialog-BDFZs4EY.js","/assets/join-page-BfcyUIO8.js","/assets/json-5eMyoQwp.js","/assets/key-round-96QR46--.js","/assets/landing-DsAF0LPh.js","/assets/link-B54KT8Bx.js","/assets/lock-ChtmX1J6.js","/assets/mail-B3rz9kVM.js","/assets/membership-DjGOVRdA.js","/assets/menu-CMBhCWBx.js","/assets/message-history-VMctadp2.js","/assets/message-receipts-CbqQgSsU.js","/assets/monitor-smartphone-DN5Ql0gV.js","/assets/new-space-C2sM0HlI.js","/assets/notifier-BKkf5AHJ.js","/assets/own-file-BuYRvSRr.js","/assets/palette-dialog-C4aK5lsh.js","/assets/panel-CWeSsimZ.js","/assets/part-view-C_-085-K.js","/assets/path-of-Cx_FL7h-.js","/assets/pencil-BlmxjE5H.js","/assets/people-picker-BZralQ9y.js","/assets/plan-list-CP9lVLQJ.js","/assets/plans-page-C5CauG4G.js","/assets/play-C5Nnjbnk.js","/assets/queries-BjtMbXNm.js","/assets/queries-BnCQXiEl.js","/assets/receipt-mark-153FtXUS.js","/assets/receipts-DaRYwF8B.js","/assets/removable-CMEVQf20.js","/assets/reply-2UoL4U26.js","/assets/rolldown-runtime-XKyaHtl9.js","/assets/row-menu-CWOzjKIC.js","/assets/run-head-CauPMru4.js","/assets/run-page-Cb2cWS-W.js","/assets/runners-page-CkcJjI3t.js","/assets/runs-DtN_rU_6.js","/assets/runs-page-DSi-oBGc.js","/assets/search-page-DNnreTo1.js","/assets/send-horizontal-qhDY00M3.js","/assets/send-key-BsIo28wD.js","/assets/server-words-CP_1fEYT.js","/assets/sessions-page-BLxI6iG1.js","/assets/settings-page-Dkul6r7h.js","/assets/settled-f0s5TKOK.js","/assets/shade-6DrGtQXR.js","/assets/shared.worker-CIw7VqgE.js","/assets/shortcut-list-D1BlA2DT.js","/assets/signin-D0EO-7QU.js","/assets/space-dialogs-CRqiCRI3.js","/assets/space-page-DtEycqgk.js","/assets/spaces-page-BJeYx8BK.js","/assets/spans-BzhljmMB.js","/assets/state-C_dw-ICT.js","/assets/still-part-CxLIs-Zg.css","/assets/still-part-DJRv-Aqb.js","/assets/subject-DLCoR7yQ.js","/assets/table-BFm9gTGC.js","/assets/tabs-D5ZwpZu8.js","/assets/tally-CSkjnimp.js","/assets/trash-BIaPO6Er.js","/assets/trial-CMEoEVr8.js","/assets/triangle-exclamation-point-bNEQp6i9.js","/assets/trigger-Bo-POp8M.js","/assets/ui-DFYa1-tL.js","/assets/use-reading-CQMZxIGz.js","/assets/useBaseQuery-D_dGtk1X.js","/assets/useInfiniteQuery-ikjJsTZ1.js","/assets/useMatch-yXNHIvWV.js","/assets/useMutation-D80kroa5.js","/assets/useRouter-Dv0-mmNN.js","/assets/user-plus-BpS-idcX.js","/assets/wake-note-CByDWamo.js","/assets/wide-BXRP1z7u.js","/assets/words-BRU0v32J.js","/assets/words-DbU0AmWI.js","/assets/words-DcMN7BWZ.js"]};
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
