const build = {"version":"faca428fa6af4599","entry":"/assets/index-BDTtugdL.js","files":["/","/favicon.svg","/assets/act-as-BFZuxpF3.js","/assets/agent-page-uMCDE9CP.js","/assets/agents-page-Do1_P0US.js","/assets/approvals-page-BvWc8odM.js","/assets/arrow-down-EVtynXhL.js","/assets/arrow-left-DNyZw41P.js","/assets/arrow-up-CFT0PYMO.js","/assets/ask-back-0hd7aJmx.js","/assets/audit-BXSvmrYn.js","/assets/authorize-page-DUbkPIb9.js","/assets/avatar-BLix8LuZ.js","/assets/away-BV1EebGN.js","/assets/back-vFRhEw4k.js","/assets/badge-BhlDaJML.js","/assets/bell-B-OpJI_t.js","/assets/chart-D5o4uEId.js","/assets/check-qGopJYtb.js","/assets/circle-check-BBLWeL9q.js","/assets/circle-dashed-C9SIEUgL.js","/assets/circle-x-QICR_qgR.js","/assets/client-wPGKVYdj.js","/assets/confirm-BeO_yI4l.js","/assets/connect-page-IZ_SYTGP.js","/assets/copy-B1Pbu-4P.js","/assets/copyable-L_Ft8EvR.js","/assets/delete-message-Cf7ZN60t.js","/assets/diff-BFfNvBnJ.js","/assets/diff-DPJ9sAyZ.js","/assets/download-CCvHU0gy.js","/assets/edit-args-CwMgybpm.js","/assets/edit-message-DtY8puj_.js","/assets/ellipsis-Bw9UGoI1.js","/assets/esm-BKXeuaYJ.js","/assets/external-link-C0R0GHIr.js","/assets/field-B1OJD47t.js","/assets/file-text-CZe_5bLo.js","/assets/files-BE7hPT6O.js","/assets/form-B0uHX130.js","/assets/form-answer-C0qHoSfu.js","/assets/fresh-acts-DpaDpi0-.js","/assets/gallery-ZKpS0c2d.js","/assets/idempotency-BCK0yjPJ.js","/assets/identity-CpiHrrK6.js","/assets/index-BDTtugdL.js","/assets/index-BM0mTOvC.css","/assets/inter-latin-wght-normal-Dx4kXJAl.woff2","/assets/invite-dialog-AN-RThK4.js","/assets/join-page-Bf4nuwYG.js","/assets/json-5eMyoQwp.js","/assets/key-round-96QR46--.js","/assets/landing-BvXSFs2O.js","/assets/link-B54KT8Bx.js","/assets/lock-ChtmX1J6.js","/assets/mail-B3rz9kVM.js","/assets/membership-BWRq3DYX.js","/assets/menu-uUNBScuQ.js","/assets/message-history-Bqdi3PgC.js","/assets/message-receipts-F_MuvLcw.js","/assets/monitor-smartphone-DN5Ql0gV.js","/assets/new-space-CGIl5N11.js","/assets/notifications-Cgmygzn7.js","/assets/notifier-CwP6Sw8U.js","/assets/own-file-Cc2hjzoI.js","/assets/palette-dialog-il8NgIct.js","/assets/panel-CUAegA4q.js","/assets/part-view-XOliXK6s.js","/assets/path-of-Cx_FL7h-.js","/assets/pencil-BlmxjE5H.js","/assets/people-picker-Bit0gAVy.js","/assets/plan-list-8lyuB7VX.js","/assets/plans-page-DcmSkvEz.js","/assets/play-C5Nnjbnk.js","/assets/push-BmzGZU-G.js","/assets/queries-Dcv81km7.js","/assets/queries-DhgRByUI.js","/assets/receipt-mark-B5RyzZ9N.js","/assets/receipts-BAoHeVms.js","/assets/removable-CMEVQf20.js","/assets/reply-2UoL4U26.js","/assets/rolldown-runtime-XKyaHtl9.js","/assets/row-menu-Fbi0XCDa.js","/assets/run-head-3EdqPMbo.js","/assets/run-page-D81rbTNI.js","/assets/runners-page-B4AVnHwX.js","/assets/runs-CWZx0LQ7.js","/assets/runs-page-ZXpxRN8S.js","/assets/search-page-lc8Sj2Xt.js","/assets/send-horizontal-qhDY00M3.js","/assets/send-key-BsIo28wD.js","/assets/server-words-CP_1fEYT.js","/assets/sessions-page-DBPUPAER.js","/assets/settings-only-DTcYi6-j.js","/assets/settings-page-BvCS5fzY.js","/assets/settled-DhFh4yNY.js","/assets/shade-DTO6Ya_2.js","/assets/shared.worker-D21YUbfo.js","/assets/shortcut-list-Ck8JnLnR.js","/assets/sign-in-BeNyMYDa.js","/assets/signin-CroTAXbS.js","/assets/space-dialogs-7emfPbY1.js","/assets/space-page-D8rqs-i9.js","/assets/spaces-page-B4spCTqe.js","/assets/spans-CZCu_b5O.js","/assets/state-C2pLyjbE.js","/assets/still-part-B37m0iq1.js","/assets/still-part-CxLIs-Zg.css","/assets/subject-BVum6lNC.js","/assets/table-DOeoR3l0.js","/assets/tabs-D5ZwpZu8.js","/assets/tally-Dc04ijaJ.js","/assets/trash-BIaPO6Er.js","/assets/trial-CbmcXshF.js","/assets/triangle-exclamation-point-bNEQp6i9.js","/assets/trigger-BZpa36qE.js","/assets/ui-DFYa1-tL.js","/assets/use-reading-B-FDjFA-.js","/assets/useBaseQuery-D_dGtk1X.js","/assets/useInfiniteQuery-ikjJsTZ1.js","/assets/useMatch-yXNHIvWV.js","/assets/useMutation-B5pWLjHa.js","/assets/useRouter-Dv0-mmNN.js","/assets/user-plus-BpS-idcX.js","/assets/wake-note-CtKlkNFN.js","/assets/wide-Cq97nzdt.js","/assets/words-BRU0v32J.js","/assets/words-DbU0AmWI.js","/assets/words-DcMN7BWZ.js"]};
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
scope.addEventListener("push", (event) => event.waitUntil(show(event.data?.json())));
scope.addEventListener("notificationclick", (event) => event.waitUntil(follow(event.notification)));
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
const tabs = () => scope.clients.matchAll({
	type: "window",
	includeUncontrolled: true
});
// A reader who has the console before their eyes sees it there. Browsers accept a push without a
// notification only then.
async function show(notice) {
	if ((await tabs()).some((tab) => tab.visibilityState === "visible")) return;
	const by = notice.by === "system" ? "Shoal" : notice.by;
	const title = notice.kind === "mention" ? `${by} mentioned you` : `${by} needs an answer`;
	await scope.registration.showNotification(title, {
		body: notice.space ?? "Approvals",
		tag: notice.tag,
		icon: "/favicon.svg",
		data: addressOf(notice)
	});
}
function addressOf({ sessionId, spaceId, seq }) {
	const session = `/s/${encodeURIComponent(sessionId)}`;
	if (spaceId === undefined) return `${session}/approvals`;
	return `${session}/spaces/${encodeURIComponent(spaceId)}${seq === undefined ? "" : `?seq=${seq}`}`;
}
// In a tab that is there, or in a new one.
async function follow(notification) {
	notification.close();
	const address = notification.data;
	const [tab] = await tabs();
	if (tab === undefined) return void await scope.clients.openWindow(address);
	try {
		await (await tab.focus()).navigate(address);
	} catch {
		await scope.clients.openWindow(address);
	}
}
