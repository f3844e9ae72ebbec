const build = {"version":"453c1f6919052b98","entry":"/assets/index-DeSebOSy.js","files":["/","/favicon.svg","/assets/act-as-BhJm1b5W.js","/assets/agent-page-NyDm51mK.js","/assets/agents-page-BJLYBnb1.js","/assets/approvals-page-DKVM46Ej.js","/assets/arrow-down-EVtynXhL.js","/assets/arrow-left-DNyZw41P.js","/assets/arrow-up-CFT0PYMO.js","/assets/ask-back-DNiRStHN.js","/assets/audit-DahuVBD7.js","/assets/authorize-page-BCQH-Z8p.js","/assets/avatar-DIlS4QsG.js","/assets/away-BV1EebGN.js","/assets/back-COQszMof.js","/assets/badge-BhlDaJML.js","/assets/bell-B-OpJI_t.js","/assets/chart-eEfEEYcj.js","/assets/check-qGopJYtb.js","/assets/circle-check-BBLWeL9q.js","/assets/circle-dashed-C9SIEUgL.js","/assets/circle-x-QICR_qgR.js","/assets/client-DOlItA-2.js","/assets/confirm-DDFfC_UL.js","/assets/connect-page-Cy3rDMpW.js","/assets/copy-B1Pbu-4P.js","/assets/copyable-L_Ft8EvR.js","/assets/delete-message-qGVOnIdP.js","/assets/diff-CLICevs-.js","/assets/diff-DUoFGfJh.js","/assets/download-CCvHU0gy.js","/assets/edit-args-DaWrKPlN.js","/assets/edit-message-BtgYYFYt.js","/assets/ellipsis-Bw9UGoI1.js","/assets/esm-BfTK3mLz.js","/assets/external-link-C0R0GHIr.js","/assets/field-B1OJD47t.js","/assets/file-text-CZe_5bLo.js","/assets/files-CmZtRAK0.js","/assets/form-CZmunppf.js","/assets/form-answer-sVMHJA2F.js","/assets/fresh-acts-DlaDeFYy.js","/assets/gallery-CkifL3P9.js","/assets/idempotency-BCK0yjPJ.js","/assets/identity-pw9oEh2b.js","/assets/index-BM0mTOvC.css","/assets/index-DeSebOSy.js","/assets/inter-latin-wght-normal-Dx4kXJAl.woff2","/assets/invite-dialog-B6ngTi-f.js","/assets/join-page-Mzn4znSw.js","/assets/json-5eMyoQwp.js","/assets/key-round-96QR46--.js","/assets/landing-Dg0UWBa9.js","/assets/link-B54KT8Bx.js","/assets/lock-ChtmX1J6.js","/assets/mail-B3rz9kVM.js","/assets/membership-D0BOSxzp.js","/assets/menu-uUNBScuQ.js","/assets/message-history-Dl_3kCNg.js","/assets/message-receipts-pyJMpG3Q.js","/assets/monitor-smartphone-DN5Ql0gV.js","/assets/new-space-GAqtbl3O.js","/assets/notifications-BG3btB92.js","/assets/notifier-CwP6Sw8U.js","/assets/own-file-BuYRvSRr.js","/assets/palette-dialog-DyDlv_dy.js","/assets/panel-ChA7rahM.js","/assets/part-view-hsuwkBIy.js","/assets/path-of-Cx_FL7h-.js","/assets/pencil-BlmxjE5H.js","/assets/people-picker-D969xG-M.js","/assets/plan-list-CuE9bMFi.js","/assets/plans-page-_QTXW5Oe.js","/assets/play-C5Nnjbnk.js","/assets/push-CuG3iMij.js","/assets/queries-CQ5SbDCo.js","/assets/queries-DBYza4HV.js","/assets/receipt-mark-C4Opo3c0.js","/assets/receipts-CDk7d6TF.js","/assets/removable-CMEVQf20.js","/assets/reply-2UoL4U26.js","/assets/rolldown-runtime-XKyaHtl9.js","/assets/row-menu-kWk1AmNj.js","/assets/run-head-DCFvtqHb.js","/assets/run-page-B5uOWsHI.js","/assets/runners-page-BgUk4ozw.js","/assets/runs-JWpTYo5x.js","/assets/runs-page-RHcI2KI6.js","/assets/search-page-WvN0Xi1l.js","/assets/send-horizontal-qhDY00M3.js","/assets/send-key-BsIo28wD.js","/assets/server-words-CP_1fEYT.js","/assets/sessions-page-C4lZ7zMi.js","/assets/settings-only-ByhACX95.js","/assets/settings-page-CdPEGsco.js","/assets/settled-DR7auRwl.js","/assets/shade-BhV48W_d.js","/assets/shared.worker-DC8mH701.js","/assets/shortcut-list-BhqQy3xA.js","/assets/sign-in-BHcvzbvy.js","/assets/signin-DK-7DPhQ.js","/assets/space-dialogs-DBfqPWzp.js","/assets/space-page-W5pISpgK.js","/assets/spaces-page-Bh9mH49n.js","/assets/spans-DN_RdVAe.js","/assets/state-FkBaBsMT.js","/assets/still-part-CxLIs-Zg.css","/assets/still-part-DDdT-oG9.js","/assets/subject-D86MCMiE.js","/assets/table-C061sg2j.js","/assets/tabs-D5ZwpZu8.js","/assets/tally-DoqJb6VA.js","/assets/trash-BIaPO6Er.js","/assets/trial-Bbn074-L.js","/assets/triangle-exclamation-point-bNEQp6i9.js","/assets/trigger-uKJ8dJxn.js","/assets/ui-DFYa1-tL.js","/assets/use-reading-DjV17OV6.js","/assets/useBaseQuery-D_dGtk1X.js","/assets/useInfiniteQuery-ikjJsTZ1.js","/assets/useMatch-yXNHIvWV.js","/assets/useMutation-CKci8HYl.js","/assets/useRouter-Dv0-mmNN.js","/assets/user-plus-BpS-idcX.js","/assets/wake-note-BSkvPWKQ.js","/assets/wide-BXKSQh1U.js","/assets/words-BRU0v32J.js","/assets/words-DbU0AmWI.js","/assets/words-DcMN7BWZ.js"]};
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
