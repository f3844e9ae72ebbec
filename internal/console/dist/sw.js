const build = {"version":"250c50e3d1a13ece","entry":"/assets/index-DCkH2YUm.js","files":["/","/favicon.svg","/assets/act-as-Dfx8dKEF.js","/assets/agent-page-BlOG7rcY.js","/assets/agents-page-ByBYRKpG.js","/assets/approvals-page-C7gfP_Cc.js","/assets/arrow-down-Bjymk8zv.js","/assets/arrow-left-wjifGMf9.js","/assets/arrow-up-B1vVkjPT.js","/assets/ask-back-D7lCuEyG.js","/assets/audit-CaVBMH5Z.js","/assets/authorize-page-ClzWaC5-.js","/assets/avatar-DgznAEia.js","/assets/away-Di6ZbBgt.js","/assets/back-CwTEQ6rc.js","/assets/badge-OlM7p4IH.js","/assets/bell-okKivBzH.js","/assets/chart-hzGGRNhT.js","/assets/check-VfGofE1c.js","/assets/circle-check-BtN1rW0g.js","/assets/circle-dashed-3yQJQ1fY.js","/assets/circle-x-CWNeZKO_.js","/assets/client-CORYsCki.js","/assets/confirm-BWLTqafN.js","/assets/connect-page-Dw1OPN51.js","/assets/copy-Cw9GS9DH.js","/assets/copyable-BOV--gZT.js","/assets/delete-message-C9t7zc80.js","/assets/diff-BRlyoKWT.js","/assets/diff-DSdDv6o0.js","/assets/download-at5mL7Vd.js","/assets/edit-args-DRBitX0l.js","/assets/edit-message-NK-RkBVB.js","/assets/ellipsis-DI0C_aHp.js","/assets/esm-CwWWU4_u.js","/assets/external-link-ulqb6JD0.js","/assets/field-8KFLv8fY.js","/assets/file-text-CQ5Hsjn3.js","/assets/files-CZJjjVui.js","/assets/form-ChuX3vgi.js","/assets/form-answer-BqgHu7xc.js","/assets/fresh-acts-CaJcJORH.js","/assets/gallery-vEt__y0V.js","/assets/idempotency-DbvdWZTq.js","/assets/identity-BvJ8_BvO.js","/assets/index-DCkH2YUm.js","/assets/index-DFTFdB1j.css","/assets/inter-latin-wght-normal-Dx4kXJAl.woff2","/assets/invite-dialog-bJXhzTGE.js","/assets/join-page-CMIUt0v1.js","/assets/json-oGvKrJp5.js","/assets/key-round-BjlgnXAV.js","/assets/landing-CTNOr_kR.js","/assets/link-_VjVfRmU.js","/assets/lock-CARVC4hh.js","/assets/mail-D82IIBCR.js","/assets/membership-TAVfvxnE.js","/assets/menu-BziP3FW3.js","/assets/message-history-C283H7hF.js","/assets/message-receipts-B76Ssbvv.js","/assets/monitor-smartphone-X44KcoAY.js","/assets/new-space-BA4-tDJ_.js","/assets/notifications-C7PcBTlR.js","/assets/notifier-CwP6Sw8U.js","/assets/own-file--pLIOtKS.js","/assets/palette-dialog-BuG4Cq02.js","/assets/panel-CymBbgRB.js","/assets/part-view-BHeiJOjJ.js","/assets/path-of-Cx_FL7h-.js","/assets/pencil-CePJfeu3.js","/assets/people-picker-CsNNtAqK.js","/assets/plan-list-C-XW37l6.js","/assets/plans-page-BkFDyPoo.js","/assets/play-VdaWEgad.js","/assets/push-BrwXAq_e.js","/assets/queries-BdVFt5gA.js","/assets/queries-Ltsu-j3y.js","/assets/receipt-mark-YEH2NfVR.js","/assets/receipts-0FHMTWlW.js","/assets/removable-BriInlq6.js","/assets/reply-2UoL4U26.js","/assets/rolldown-runtime-XKyaHtl9.js","/assets/row-menu-Dq1Rzf1i.js","/assets/run-head-s8-K0W-1.js","/assets/run-page-BVLaR3PN.js","/assets/runners-page-DWgC4Dot.js","/assets/runs-3q26a946.js","/assets/runs-page-CLAdQEmI.js","/assets/search-page-B_pmhg2_.js","/assets/send-horizontal-DbG2PpJ8.js","/assets/send-key-BsIo28wD.js","/assets/server-words-CP_1fEYT.js","/assets/sessions-page-D_etzgcK.js","/assets/settings-only-3wmUq-H0.js","/assets/settings-page-MbZ0PUKP.js","/assets/settled-CnZ_np4y.js","/assets/shade-DISBMOP7.js","/assets/shared.worker-D21YUbfo.js","/assets/shortcut-list-DQ6F1d1J.js","/assets/sign-in-BPjqnTiO.js","/assets/signin-Du8TpZVl.js","/assets/space-dialogs-hpOczVjb.js","/assets/space-page-lYGBMpFo.js","/assets/spaces-page-A6e4WKXr.js","/assets/spans-BTsVduZg.js","/assets/state-ClTVWiVC.js","/assets/still-part-CxLIs-Zg.css","/assets/still-part-DbV6-jqv.js","/assets/subject-DJA8m-FD.js","/assets/table-VBFgxIL6.js","/assets/tabs-BTYQ9nNc.js","/assets/tally-dBTvUoF6.js","/assets/trash-B4EOb5El.js","/assets/trial-Bw2-2x1l.js","/assets/triangle-exclamation-point-D7gEmFp6.js","/assets/trigger-C48xpz1T.js","/assets/ui-qPh1Rn35.js","/assets/use-reading-FCHrfaT9.js","/assets/useBaseQuery-nr4DtQge.js","/assets/useInfiniteQuery-DRVk815x.js","/assets/useMatch-CVU6z4yV.js","/assets/useMutation-D39zclJ_.js","/assets/useRouter-CX71hikc.js","/assets/user-plus-BXaGPbhh.js","/assets/wake-note-CKdaaaKV.js","/assets/wide-C2NyjaaN.js","/assets/words-CfLSPqGX.js","/assets/words-DbU0AmWI.js","/assets/words-DcMN7BWZ.js"]};
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
