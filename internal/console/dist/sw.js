const build = {"version":"65323ac868468de4","entry":"/assets/index-Dh-HypUV.js","files":["/","/favicon.svg","/assets/act-as-b6mJ6Lc2.js","/assets/agent-page-DQe8VOzr.js","/assets/agents-page-ChjfRjCQ.js","/assets/approvals-page-4iTLIhIJ.js","/assets/arrow-down-Bympz1dd.js","/assets/arrow-left-BW6Eigty.js","/assets/arrow-up-Uk53NHxc.js","/assets/ask-back-K20jkeRf.js","/assets/audit-Dh1D53XT.js","/assets/authorize-page-Di3WbpaS.js","/assets/avatar-C3Cy3U91.js","/assets/away-kviRf0sE.js","/assets/back-BmXnvEuO.js","/assets/badge-CQpylFp8.js","/assets/bell-T-YG7XSt.js","/assets/chart-Bji-2XAF.js","/assets/check-FQjISIhe.js","/assets/choices-DrLM8jVw.js","/assets/circle-check-DlsBd-8Q.js","/assets/circle-dashed-DzYvRq-G.js","/assets/circle-x-Di_bCxoZ.js","/assets/client-4Wbd4lC8.js","/assets/confirm-DmMfNCcc.js","/assets/connect-page-Cl15tRMA.js","/assets/copy-CSNOjXpH.js","/assets/copyable-o1URV7B7.js","/assets/delete-message-lhmQVMUR.js","/assets/diff-BTVRTh7R.js","/assets/diff-Dp4UDUSv.js","/assets/download-CwNASEDA.js","/assets/edit-args-C8Htxmu2.js","/assets/edit-message-HPrdJyKe.js","/assets/ellipsis-BNqLes57.js","/assets/esm-C1DJjG3e.js","/assets/external-link-Cta3bloY.js","/assets/field-CO7s7AHv.js","/assets/file-text-DCwSsgbi.js","/assets/files-BpndtcrV.js","/assets/form-Bi08lIXU.js","/assets/form-answer-S2LlUySc.js","/assets/fresh-acts-BE7dlNx6.js","/assets/gallery-B4bns8Oz.js","/assets/idempotency-BIkPMyKs.js","/assets/identity-C83RDnDA.js","/assets/index-DFTFdB1j.css","/assets/index-Dh-HypUV.js","/assets/inter-latin-wght-normal-Dx4kXJAl.woff2","/assets/invite-dialog-C4uhzFIV.js","/assets/join-page-BJ18VMqx.js","/assets/json-8qU0jRHW.js","/assets/key-round-HjXD7EBR.js","/assets/landing-TPRBi9Pg.js","/assets/lock-BHpxVJ1M.js","/assets/mail-X1ULup3N.js","/assets/membership-Cj4VCfQx.js","/assets/menu-BPQOcTcm.js","/assets/message-history-CJ5dMAsU.js","/assets/message-receipts-ISZJTv1M.js","/assets/monitor-smartphone-VzJlmghe.js","/assets/new-space-D-ttQSeT.js","/assets/notifications-DH7C9W23.js","/assets/notifier-CwP6Sw8U.js","/assets/own-file-BWp90c2R.js","/assets/palette-dialog-BqzdDS2t.js","/assets/panel-CWidaqS5.js","/assets/part-view-98jw5tkO.js","/assets/path-of-Cx_FL7h-.js","/assets/pencil-BEMIRugA.js","/assets/people-picker-CaqRNSEp.js","/assets/plan-list-Cu_DhkB9.js","/assets/plans-page-BIfD-zB2.js","/assets/play-CNTGb4VN.js","/assets/push-Blapa2-C.js","/assets/queries-Cq14rsJT.js","/assets/queries-DaQdC5Lh.js","/assets/receipt-mark-DZzCl9Eh.js","/assets/receipts-BoR16z3E.js","/assets/removable-C_m1C8LP.js","/assets/reply-2UoL4U26.js","/assets/rolldown-runtime-XKyaHtl9.js","/assets/router-nFHQFZCf.js","/assets/row-menu-GXn0z_vz.js","/assets/run-head-BHuK4mEJ.js","/assets/run-page-BCAlA8On.js","/assets/runners-page-B__vEhNx.js","/assets/runs-CtSyGAPX.js","/assets/runs-page-Bz1Jh68V.js","/assets/search-page-CZOI7eU7.js","/assets/send-horizontal-CDdBj18X.js","/assets/send-key-BsIo28wD.js","/assets/server-words-CP_1fEYT.js","/assets/sessions-page-8kYG5w_K.js","/assets/settings-only-VlQNDxh0.js","/assets/settings-page-DJ_9cokF.js","/assets/settled-BWHY8x1V.js","/assets/shade-DYFFGUmj.js","/assets/shared.worker-D21YUbfo.js","/assets/shortcut-list-BAlOSW53.js","/assets/sign-in-JTQQzizW.js","/assets/signin-DS8iwgvC.js","/assets/space-dialogs-BrwHyc4x.js","/assets/space-page-CbSeh4oW.js","/assets/spaces-page-D8Rn_A-K.js","/assets/spans-DJGigA9X.js","/assets/state-p3hzQj4G.js","/assets/still-part-B8jSZr3L.js","/assets/still-part-CxLIs-Zg.css","/assets/subject-C9mjED_A.js","/assets/table-js91ApkV.js","/assets/tabs-CsWd8YwA.js","/assets/tally-2W1WOt7q.js","/assets/trash-DKewxL1N.js","/assets/trial-D1ai-1a6.js","/assets/triangle-exclamation-point-BlgXHkrh.js","/assets/trigger-jfTQtM6s.js","/assets/ui-DtYUzkGU.js","/assets/use-reading-S4SyvuNu.js","/assets/useBaseQuery-C0pbdZ__.js","/assets/useInfiniteQuery-DIgRG9_x.js","/assets/useMutation-CgM1zaZu.js","/assets/user-plus-DhNBLQaE.js","/assets/wake-note-1634EWiF.js","/assets/wide-BAN0bVIw.js","/assets/words-B2SOeuDc.js","/assets/words-DbU0AmWI.js","/assets/words-DcMN7BWZ.js"]};
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
