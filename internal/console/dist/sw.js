const build = {"version":"a0f284fb049db23d","entry":"/assets/index-DWidsuHS.js","files":["/","/favicon.svg","/assets/act-as-D-g4ZAmz.js","/assets/agent-page-D_Af9BQi.js","/assets/agents-page-wZ2Qvkha.js","/assets/approvals-page-DooHfmgh.js","/assets/arrow-down-EVtynXhL.js","/assets/arrow-left-DNyZw41P.js","/assets/arrow-up-CFT0PYMO.js","/assets/ask-back-DdXN-W8u.js","/assets/audit-CIYzzo_Z.js","/assets/authorize-page-BNtgCBH4.js","/assets/avatar-BWf7zJZn.js","/assets/away-BV1EebGN.js","/assets/back-Dql57eQ5.js","/assets/badge-BhlDaJML.js","/assets/bell-B-OpJI_t.js","/assets/chart-Bpsj-4si.js","/assets/check-qGopJYtb.js","/assets/circle-check-BBLWeL9q.js","/assets/circle-dashed-C9SIEUgL.js","/assets/circle-x-QICR_qgR.js","/assets/client-DOlItA-2.js","/assets/confirm-BalCE_LW.js","/assets/connect-page-CweaSxA3.js","/assets/copy-B1Pbu-4P.js","/assets/copyable-L_Ft8EvR.js","/assets/delete-message-DgjhUsQR.js","/assets/diff-4fD6eDwm.js","/assets/diff-DtqPL753.js","/assets/download-CCvHU0gy.js","/assets/edit-args-DcrVeNXQ.js","/assets/edit-message-CeoU-lQc.js","/assets/ellipsis-Bw9UGoI1.js","/assets/esm-TtIF63hh.js","/assets/external-link-C0R0GHIr.js","/assets/field-B1OJD47t.js","/assets/file-text-CZe_5bLo.js","/assets/files-DABxEMXH.js","/assets/form-CTJYWIQL.js","/assets/form-answer-I-3RXfmr.js","/assets/gallery-CULxfrCB.js","/assets/idempotency-BCK0yjPJ.js","/assets/identity-pw9oEh2b.js","/assets/index-CNza_v00.css","/assets/index-DWidsuHS.js","/assets/inter-latin-wght-normal-Dx4kXJAl.woff2","/assets/invite-dialog-BSOOcZuP.js","/assets/join-page-Bk45LKAc.js","/assets/json-5eMyoQwp.js","/assets/key-round-96QR46--.js","/assets/landing-BdRJCodm.js","/assets/link-B54KT8Bx.js","/assets/lock-ChtmX1J6.js","/assets/mail-B3rz9kVM.js","/assets/membership-DiZlzbNE.js","/assets/menu-uUNBScuQ.js","/assets/message-history-BOdlaZjo.js","/assets/message-receipts-jL0CIs7K.js","/assets/monitor-smartphone-DN5Ql0gV.js","/assets/new-space-B_j38C1O.js","/assets/notifications-Dg7CnFKG.js","/assets/notifier-CwP6Sw8U.js","/assets/own-file-BuYRvSRr.js","/assets/palette-dialog-Bs4b304p.js","/assets/panel-wa11XG9q.js","/assets/part-view-D3uJhtS8.js","/assets/path-of-Cx_FL7h-.js","/assets/pencil-BlmxjE5H.js","/assets/people-picker-BjlR16lq.js","/assets/plan-list-CB6crJ3M.js","/assets/plans-page-DJm9_I20.js","/assets/play-C5Nnjbnk.js","/assets/push-CuG3iMij.js","/assets/queries-C0jQ6iD9.js","/assets/queries-CjUALDnh.js","/assets/receipt-mark-Z6fUdjyq.js","/assets/receipts-6zwUnplM.js","/assets/removable-CMEVQf20.js","/assets/reply-2UoL4U26.js","/assets/rolldown-runtime-XKyaHtl9.js","/assets/row-menu-lm1ON4Vo.js","/assets/run-head-DfHanoI7.js","/assets/run-page-CEg1HlnY.js","/assets/runners-page-8xorly5U.js","/assets/runs-Fr4fZWev.js","/assets/runs-page-Eu5kTP2c.js","/assets/search-page-DMcgMZSh.js","/assets/send-horizontal-qhDY00M3.js","/assets/send-key-BsIo28wD.js","/assets/server-words-CP_1fEYT.js","/assets/sessions-page-Bh2iPE5h.js","/assets/settings-only-CfUUiMqz.js","/assets/settings-page-CFMsZejM.js","/assets/settled-B9W4uh72.js","/assets/shade-M3_0D-OP.js","/assets/shared.worker-DC8mH701.js","/assets/shortcut-list-CsZoc3AK.js","/assets/sign-in-o1A4-TrK.js","/assets/signin-DPBFZC9a.js","/assets/space-dialogs-DUv0dOQF.js","/assets/space-page-DPErb7jb.js","/assets/spaces-page-OWdmSHJn.js","/assets/spans-CbSOfv9q.js","/assets/state-CXiiehpy.js","/assets/still-part-CxLIs-Zg.css","/assets/still-part-srOeCYX3.js","/assets/subject-C16H46mM.js","/assets/table-CgbM8AZK.js","/assets/tabs-D5ZwpZu8.js","/assets/tally-Bhav5wDw.js","/assets/trash-BIaPO6Er.js","/assets/trial-tqZE03q-.js","/assets/triangle-exclamation-point-bNEQp6i9.js","/assets/trigger-C0UTCIp_.js","/assets/ui-DFYa1-tL.js","/assets/use-reading-Cj9ql3cw.js","/assets/useBaseQuery-D_dGtk1X.js","/assets/useInfiniteQuery-ikjJsTZ1.js","/assets/useMatch-yXNHIvWV.js","/assets/useMutation-BFtCxS3z.js","/assets/useRouter-Dv0-mmNN.js","/assets/user-plus-BpS-idcX.js","/assets/wake-note-BWDWBz0x.js","/assets/wide-CPCFp8T1.js","/assets/words-BRU0v32J.js","/assets/words-DbU0AmWI.js","/assets/words-DcMN7BWZ.js"]};
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
