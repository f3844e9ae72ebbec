const build = {"version":"f3b570ad8e26a9a4","entry":"/assets/index-CZNxNg5m.js","files":["/","/favicon.svg","/assets/act-as-CrEq3sI1.js","/assets/agent-page-Ds_kqsUb.js","/assets/agents-page-CG5wO8Xp.js","/assets/approvals-page-CS4APjET.js","/assets/arrow-down-Bympz1dd.js","/assets/arrow-left-BW6Eigty.js","/assets/arrow-up-Uk53NHxc.js","/assets/ask-back-C_OBSZaG.js","/assets/audit-SzcFejeL.js","/assets/authorize-page-BdE6c2EH.js","/assets/avatar-DBIbWPsd.js","/assets/away-kviRf0sE.js","/assets/back-C78Nkuus.js","/assets/badge-CQpylFp8.js","/assets/bell-T-YG7XSt.js","/assets/chart-DeWnkpUq.js","/assets/check-FQjISIhe.js","/assets/choices-DrLM8jVw.js","/assets/circle-check-DlsBd-8Q.js","/assets/circle-dashed-DzYvRq-G.js","/assets/circle-x-Di_bCxoZ.js","/assets/client-4Wbd4lC8.js","/assets/confirm-BeGVPXEK.js","/assets/connect-page-BdoesJt8.js","/assets/copy-CSNOjXpH.js","/assets/copyable-o1URV7B7.js","/assets/delete-message-B12YOuZJ.js","/assets/diff-Ct_DHBSo.js","/assets/diff-VvytGSHF.js","/assets/download-CwNASEDA.js","/assets/edit-args-D7jzzfYA.js","/assets/edit-message-WDCAx5I-.js","/assets/ellipsis-BNqLes57.js","/assets/esm-DjKvrjkx.js","/assets/external-link-Cta3bloY.js","/assets/field-CO7s7AHv.js","/assets/file-text-DCwSsgbi.js","/assets/files-BV9gr0A4.js","/assets/form-D5pQfCyJ.js","/assets/form-answer-DS-8pEq9.js","/assets/fresh-acts-BwAcbVjK.js","/assets/gallery-BbQzo_Eh.js","/assets/idempotency-BIkPMyKs.js","/assets/identity-C83RDnDA.js","/assets/index-CZNxNg5m.js","/assets/index-DFTFdB1j.css","/assets/inter-latin-wght-normal-Dx4kXJAl.woff2","/assets/invite-dialog-DBNNuVPj.js","/assets/join-page-CJfsYzwp.js","/assets/json-8qU0jRHW.js","/assets/key-round-HjXD7EBR.js","/assets/landing--P_8vLuZ.js","/assets/lock-BHpxVJ1M.js","/assets/mail-X1ULup3N.js","/assets/membership-CUryEJzw.js","/assets/menu-BPQOcTcm.js","/assets/message-history-VyJgp1Jj.js","/assets/message-receipts-BKSEceEB.js","/assets/monitor-smartphone-VzJlmghe.js","/assets/new-space-mjtVsiAt.js","/assets/notifications-DespJixo.js","/assets/notifier-CwP6Sw8U.js","/assets/own-file-BWp90c2R.js","/assets/palette-dialog-sypFcR9o.js","/assets/panel-DauucHSO.js","/assets/part-view-KnpyFMsp.js","/assets/path-of-Cx_FL7h-.js","/assets/pencil-BEMIRugA.js","/assets/people-picker-CU5KMIwq.js","/assets/plan-list-DYfsQbAQ.js","/assets/plans-page-CyfXGmsP.js","/assets/play-CNTGb4VN.js","/assets/push-Blapa2-C.js","/assets/queries-CPAodVbN.js","/assets/queries-GLL5GGPC.js","/assets/receipt-mark-DEQ0nEz_.js","/assets/receipts-Df7OreIv.js","/assets/removable-C_m1C8LP.js","/assets/reply-2UoL4U26.js","/assets/rolldown-runtime-XKyaHtl9.js","/assets/router-nFHQFZCf.js","/assets/row-menu-Cs0002d2.js","/assets/run-head-DY4f3Ti3.js","/assets/run-page-BOzSah6Y.js","/assets/runners-page-UGHlhHwg.js","/assets/runs-DJrVoWO_.js","/assets/runs-page-6IscJsg8.js","/assets/search-page-Bba4GIDs.js","/assets/send-horizontal-CDdBj18X.js","/assets/send-key-BsIo28wD.js","/assets/server-words-CP_1fEYT.js","/assets/sessions-page-Cofs9s77.js","/assets/settings-only-sheSQOfC.js","/assets/settings-page-BScxGiDL.js","/assets/settled-5vn6VcOj.js","/assets/shade-DOffxv_1.js","/assets/shared.worker-D21YUbfo.js","/assets/shortcut-list-DFMSRJJx.js","/assets/sign-in-J0hIq83h.js","/assets/signin-y9X42_pt.js","/assets/space-dialogs-BgrV8G40.js","/assets/space-page-CNDzec_P.js","/assets/spaces-page-D17iUxfH.js","/assets/spans-BUaxVpHw.js","/assets/state-D19mefbY.js","/assets/still-part-BtJnTpp6.js","/assets/still-part-CxLIs-Zg.css","/assets/subject-Ddmt1UGz.js","/assets/table-1wu1RSVy.js","/assets/tabs-CsWd8YwA.js","/assets/tally-qAi84FuP.js","/assets/trash-DKewxL1N.js","/assets/trial-BEu523t5.js","/assets/triangle-exclamation-point-BlgXHkrh.js","/assets/trigger-Do6KklmI.js","/assets/ui-DtYUzkGU.js","/assets/use-reading-BjJ9ojNU.js","/assets/useBaseQuery-C0pbdZ__.js","/assets/useInfiniteQuery-DIgRG9_x.js","/assets/useMutation-BDOQbrrG.js","/assets/user-plus-DhNBLQaE.js","/assets/wake-note-CfK9-cii.js","/assets/wide-Db8F7RK9.js","/assets/words-B2SOeuDc.js","/assets/words-DbU0AmWI.js","/assets/words-DcMN7BWZ.js"]};
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
