const build = {"version":"896ac7e335da576c","entry":"/assets/index-C8ijmr5m.js","files":["/","/favicon.svg","/assets/act-as-BIQ9OWbR.js","/assets/agent-page-JBiER2iS.js","/assets/agents-page-DVo28atm.js","/assets/approvals-page-B7yOnUgD.js","/assets/arrow-down-EVtynXhL.js","/assets/arrow-left-DNyZw41P.js","/assets/arrow-up-CFT0PYMO.js","/assets/ask-back-DbRpdlcK.js","/assets/audit-D78YQ3Fa.js","/assets/authorize-page--JKvRXsF.js","/assets/avatar-BqwpwPFh.js","/assets/away-BV1EebGN.js","/assets/back-CSusPl89.js","/assets/badge-BhlDaJML.js","/assets/bell-B-OpJI_t.js","/assets/chart-CT6z36km.js","/assets/check-qGopJYtb.js","/assets/circle-check-BBLWeL9q.js","/assets/circle-dashed-C9SIEUgL.js","/assets/circle-x-QICR_qgR.js","/assets/client-wPGKVYdj.js","/assets/confirm-uzZA84ba.js","/assets/connect-page-C2CRHBsR.js","/assets/copy-B1Pbu-4P.js","/assets/copyable-L_Ft8EvR.js","/assets/delete-message-C8XXiy81.js","/assets/diff-4zSSbyTN.js","/assets/diff-CQHjC4Hg.js","/assets/download-CCvHU0gy.js","/assets/edit-args-B5_2ngG8.js","/assets/edit-message-uuI30_j1.js","/assets/ellipsis-Bw9UGoI1.js","/assets/esm-DAYi6b12.js","/assets/external-link-C0R0GHIr.js","/assets/field-B1OJD47t.js","/assets/file-text-CZe_5bLo.js","/assets/files-BiI9_IM1.js","/assets/form-EoikFqbS.js","/assets/form-answer-7j9w17wM.js","/assets/fresh-acts-B7GxKmhN.js","/assets/gallery-QkY7VAc_.js","/assets/idempotency-BCK0yjPJ.js","/assets/identity-CpiHrrK6.js","/assets/index-BXv3HHr6.css","/assets/index-C8ijmr5m.js","/assets/inter-latin-wght-normal-Dx4kXJAl.woff2","/assets/invite-dialog-DhpNN-ir.js","/assets/join-page-BL-nqu5z.js","/assets/json-5eMyoQwp.js","/assets/key-round-96QR46--.js","/assets/landing-BAbBv5Sj.js","/assets/link-B54KT8Bx.js","/assets/lock-ChtmX1J6.js","/assets/mail-B3rz9kVM.js","/assets/membership-Dljs2DXs.js","/assets/menu-uUNBScuQ.js","/assets/message-history-D77yaAts.js","/assets/message-receipts-CwDPQ91B.js","/assets/monitor-smartphone-DN5Ql0gV.js","/assets/new-space-B_A8Hohf.js","/assets/notifications-DemgqRVV.js","/assets/notifier-CwP6Sw8U.js","/assets/own-file-Cc2hjzoI.js","/assets/palette-dialog-DJXzW5hn.js","/assets/panel-BeyVzDDg.js","/assets/part-view-C2PojEEv.js","/assets/path-of-Cx_FL7h-.js","/assets/pencil-BlmxjE5H.js","/assets/people-picker-C6Ly6RvC.js","/assets/plan-list-BOlsvVhT.js","/assets/plans-page-DlkC6srk.js","/assets/play-C5Nnjbnk.js","/assets/push-BmzGZU-G.js","/assets/queries-2DbZBVFA.js","/assets/queries-DeK8y2WM.js","/assets/receipt-mark-C49BsW6V.js","/assets/receipts-CMf8CwWz.js","/assets/removable-CMEVQf20.js","/assets/reply-2UoL4U26.js","/assets/rolldown-runtime-XKyaHtl9.js","/assets/row-menu-DZRLy_f2.js","/assets/run-head-B3N9ZRgT.js","/assets/run-page-DIH3w5pa.js","/assets/runners-page-CTGRuTAP.js","/assets/runs-C-SaXvET.js","/assets/runs-page-DkqTAATg.js","/assets/search-page-BTLplVY5.js","/assets/send-horizontal-qhDY00M3.js","/assets/send-key-BsIo28wD.js","/assets/server-words-CP_1fEYT.js","/assets/sessions-page-DKC7v65s.js","/assets/settings-only-CiXuwgwQ.js","/assets/settings-page-DPrP7xre.js","/assets/settled-D6XlNW-T.js","/assets/shade-D-EtJGEk.js","/assets/shared.worker-D21YUbfo.js","/assets/shortcut-list-DTHHflxD.js","/assets/sign-in-Cmq7Fbuc.js","/assets/signin-Ch-YaQKe.js","/assets/space-dialogs-BhhIn8EB.js","/assets/space-page-DWcnMOvN.js","/assets/spaces-page-BKrapSNO.js","/assets/spans-BDNrx3Ib.js","/assets/state-DvEYT1wE.js","/assets/still-part-CxLIs-Zg.css","/assets/still-part-jo2jEVpZ.js","/assets/subject-D1ixmhhp.js","/assets/table-B7v822oP.js","/assets/tabs-D5ZwpZu8.js","/assets/tally-CTFGy0jw.js","/assets/trash-BIaPO6Er.js","/assets/trial-CZJr-qMm.js","/assets/triangle-exclamation-point-bNEQp6i9.js","/assets/trigger-_lJn9AAY.js","/assets/ui-DFYa1-tL.js","/assets/use-reading-VaRveiFS.js","/assets/useBaseQuery-D_dGtk1X.js","/assets/useInfiniteQuery-ikjJsTZ1.js","/assets/useMatch-yXNHIvWV.js","/assets/useMutation-Di4d4IOi.js","/assets/useRouter-Dv0-mmNN.js","/assets/user-plus-BpS-idcX.js","/assets/wake-note-BTajFtH4.js","/assets/wide-CBqkTRqs.js","/assets/words-BRU0v32J.js","/assets/words-DbU0AmWI.js","/assets/words-DcMN7BWZ.js"]};
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
