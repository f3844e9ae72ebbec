const build = {"version":"e2a47d3e319f8365","entry":"/assets/index-D6B8NfOf.js","files":["/","/favicon.svg","/assets/act-as-pl_h4-px.js","/assets/agent-page-D1z2EkOL.js","/assets/agents-page-CzXWo_3S.js","/assets/approvals-page-ByjC_lta.js","/assets/arrow-down-Bympz1dd.js","/assets/arrow-left-BW6Eigty.js","/assets/arrow-up-Uk53NHxc.js","/assets/ask-back-BqGVKQHh.js","/assets/audit-BczX3j4o.js","/assets/authorize-page-BTUZ125x.js","/assets/avatar-DDRPfiKw.js","/assets/away-kviRf0sE.js","/assets/back-C7KLQ4Jl.js","/assets/badge-CQpylFp8.js","/assets/bell-T-YG7XSt.js","/assets/chart-BjcT4iQ7.js","/assets/check-FQjISIhe.js","/assets/choices-DrLM8jVw.js","/assets/circle-check-DlsBd-8Q.js","/assets/circle-dashed-DzYvRq-G.js","/assets/circle-x-Di_bCxoZ.js","/assets/client-4Wbd4lC8.js","/assets/confirm-4M4nEzGq.js","/assets/connect-page-Do3c8jHY.js","/assets/copy-CSNOjXpH.js","/assets/copyable-o1URV7B7.js","/assets/delete-message-BTdFM9rC.js","/assets/diff-CWq51f8c.js","/assets/diff-DzwuK762.js","/assets/download-CwNASEDA.js","/assets/edit-args-DXWTFext.js","/assets/edit-message-DKuUePgR.js","/assets/ellipsis-BNqLes57.js","/assets/esm-B3D0J9kG.js","/assets/external-link-Cta3bloY.js","/assets/field-CO7s7AHv.js","/assets/file-text-DCwSsgbi.js","/assets/files-BgIQGiHs.js","/assets/form-B_7aNBFX.js","/assets/form-answer-uVxmT0TU.js","/assets/fresh-acts-B6qDcbrs.js","/assets/gallery-FkL4lg6m.js","/assets/idempotency-BIkPMyKs.js","/assets/identity-C83RDnDA.js","/assets/index-D6B8NfOf.js","/assets/index-DFTFdB1j.css","/assets/inter-latin-wght-normal-Dx4kXJAl.woff2","/assets/invite-dialog-D817ml0b.js","/assets/join-page-Ck0zGV27.js","/assets/json-8qU0jRHW.js","/assets/key-round-HjXD7EBR.js","/assets/landing-BhbWi0Tt.js","/assets/lock-BHpxVJ1M.js","/assets/mail-X1ULup3N.js","/assets/membership-Zvh0is4e.js","/assets/menu-BPQOcTcm.js","/assets/message-history-CwRlcY6t.js","/assets/message-receipts-TyZKfGLq.js","/assets/monitor-smartphone-VzJlmghe.js","/assets/new-space-DjZQhlGc.js","/assets/notifications-msaSorR7.js","/assets/notifier-CwP6Sw8U.js","/assets/own-file-BWp90c2R.js","/assets/palette-dialog-BMArAUgr.js","/assets/panel-BpqtAUHa.js","/assets/part-view-C3l5sXON.js","/assets/path-of-Cx_FL7h-.js","/assets/pencil-BEMIRugA.js","/assets/people-picker-7mBdk6op.js","/assets/plan-list-MMlJZagu.js","/assets/plans-page-boEFSjxO.js","/assets/play-CNTGb4VN.js","/assets/push-Blapa2-C.js","/assets/queries-BEqbOdtY.js","/assets/queries-DnJExo32.js","/assets/receipt-mark-MfHM1Iw1.js","/assets/receipts-DMCEJ0Wp.js","/assets/removable-C_m1C8LP.js","/assets/reply-2UoL4U26.js","/assets/rolldown-runtime-XKyaHtl9.js","/assets/router-nFHQFZCf.js","/assets/row-menu-64M1kssx.js","/assets/run-head-C3JMMsWM.js","/assets/run-page-DVJOMhvB.js","/assets/runners-page-DGa854K-.js","/assets/runs-CwGfVNDM.js","/assets/runs-page-CH_Evyty.js","/assets/search-page-Y6I5oxk7.js","/assets/send-horizontal-CDdBj18X.js","/assets/send-key-BsIo28wD.js","/assets/server-words-CP_1fEYT.js","/assets/sessions-page-TCzwbG0l.js","/assets/settings-only-Dzs99TKI.js","/assets/settings-page-CXFstWk5.js","/assets/settled-uBZaUYVI.js","/assets/shade-CBYRkkER.js","/assets/shared.worker-D21YUbfo.js","/assets/shortcut-list-B7AAqgAH.js","/assets/sign-in-9v1w-3Gz.js","/assets/signin-v5jy5SXq.js","/assets/space-dialogs-CSHp4S2W.js","/assets/space-page-Bc20ICyB.js","/assets/spaces-page-DCDrMPeC.js","/assets/spans-7K1Gw1t3.js","/assets/state-DScoAnmj.js","/assets/still-part-CxLIs-Zg.css","/assets/still-part-D-j_j0Si.js","/assets/subject-SmvFqh5n.js","/assets/table-BTFjv5GV.js","/assets/tabs-CsWd8YwA.js","/assets/tally-CKCZm-dA.js","/assets/trash-DKewxL1N.js","/assets/trial-D9SRHNey.js","/assets/triangle-exclamation-point-BlgXHkrh.js","/assets/trigger-CBqo9fIu.js","/assets/ui-DtYUzkGU.js","/assets/use-reading-CW51IcPq.js","/assets/useBaseQuery-C0pbdZ__.js","/assets/useInfiniteQuery-DIgRG9_x.js","/assets/useMutation-9WYnZNdc.js","/assets/user-plus-DhNBLQaE.js","/assets/wake-note-BSUppJid.js","/assets/wide-EVzLl5Ot.js","/assets/words-B2SOeuDc.js","/assets/words-DbU0AmWI.js","/assets/words-DcMN7BWZ.js"]};
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
