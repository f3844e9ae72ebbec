const build = {"version":"f85094a55100f590","entry":"/assets/index-CTgjT-0L.js","files":["/","/favicon.svg","/assets/act-as-C0d1VqHa.js","/assets/agent-page-C16G8u9k.js","/assets/agents-page-6_4pR-QS.js","/assets/approvals-page-DSJ_ujBW.js","/assets/arrow-down-Bympz1dd.js","/assets/arrow-left-BW6Eigty.js","/assets/arrow-up-Uk53NHxc.js","/assets/ask-back-NHMynL9m.js","/assets/audit-vlbG2ncN.js","/assets/authorize-page-Dx_Eyf6J.js","/assets/avatar-CVCC6TWD.js","/assets/away-kviRf0sE.js","/assets/back-BSPvJ094.js","/assets/badge-CQpylFp8.js","/assets/bell-T-YG7XSt.js","/assets/chart-DVq8Xi7S.js","/assets/check-FQjISIhe.js","/assets/choices-DrLM8jVw.js","/assets/circle-check-DlsBd-8Q.js","/assets/circle-dashed-DzYvRq-G.js","/assets/circle-x-Di_bCxoZ.js","/assets/client-4Wbd4lC8.js","/assets/confirm-n5nX1uhk.js","/assets/connect-page-O7I74a7_.js","/assets/copy-CSNOjXpH.js","/assets/copyable-o1URV7B7.js","/assets/delete-message-DTJEI5or.js","/assets/diff-BbfyAPZd.js","/assets/diff-BdzlWhgl.js","/assets/download-CwNASEDA.js","/assets/edit-args-Bp4QJ2zg.js","/assets/edit-message-TVj3yrzw.js","/assets/ellipsis-BNqLes57.js","/assets/esm-DjYSk4VF.js","/assets/external-link-Cta3bloY.js","/assets/field-CO7s7AHv.js","/assets/file-text-DCwSsgbi.js","/assets/files-ObsDnuyv.js","/assets/form-B9IBh3gs.js","/assets/form-answer-Hkog2kas.js","/assets/fresh-acts-BlT0geOB.js","/assets/gallery-CQ-853S7.js","/assets/idempotency-BIkPMyKs.js","/assets/identity-C83RDnDA.js","/assets/index-CTgjT-0L.js","/assets/index-DFTFdB1j.css","/assets/inter-latin-wght-normal-Dx4kXJAl.woff2","/assets/invite-dialog-DLcen12o.js","/assets/join-page-CGeIyZ3r.js","/assets/json-8qU0jRHW.js","/assets/key-round-HjXD7EBR.js","/assets/landing-DJ7C9wGp.js","/assets/lock-BHpxVJ1M.js","/assets/mail-X1ULup3N.js","/assets/membership-3ybU2Ggr.js","/assets/menu-BPQOcTcm.js","/assets/message-history-D-ZNHP4M.js","/assets/message-receipts-CNLstacv.js","/assets/monitor-smartphone-VzJlmghe.js","/assets/new-space-Bgs4vn0h.js","/assets/notifications-DfGimFwH.js","/assets/notifier-CwP6Sw8U.js","/assets/own-file-BWp90c2R.js","/assets/palette-dialog-BZtRINdX.js","/assets/panel-Bfc-61n7.js","/assets/part-view-CLe8Wgu7.js","/assets/path-of-Cx_FL7h-.js","/assets/pencil-BEMIRugA.js","/assets/people-picker-MS27Yyq0.js","/assets/plan-list-OJe4m5Qq.js","/assets/plans-page-BESsgMqN.js","/assets/play-CNTGb4VN.js","/assets/push-Blapa2-C.js","/assets/queries-Bia5-BEU.js","/assets/queries-CFotgS_-.js","/assets/receipt-mark-Bd7bnELi.js","/assets/receipts-BcwPJsRZ.js","/assets/removable-C_m1C8LP.js","/assets/reply-2UoL4U26.js","/assets/rolldown-runtime-XKyaHtl9.js","/assets/router-nFHQFZCf.js","/assets/row-menu-BAcDJiSd.js","/assets/run-head-B4q32C0m.js","/assets/run-page-Cv8UmxBp.js","/assets/runners-page-DwHmkQyZ.js","/assets/runs-HcCDHrS4.js","/assets/runs-page-BSZxaKlU.js","/assets/search-page-BrJw9ppi.js","/assets/send-horizontal-CDdBj18X.js","/assets/send-key-BsIo28wD.js","/assets/server-words-CP_1fEYT.js","/assets/sessions-page-BPrkxkCZ.js","/assets/settings-only-DIAuR10H.js","/assets/settings-page-BejgyeM9.js","/assets/settled-BbIKfNl6.js","/assets/shade-BVPqWYE1.js","/assets/shared.worker-D21YUbfo.js","/assets/shortcut-list-B_u_PA7J.js","/assets/sign-in-CcmiRoGH.js","/assets/signin-DcLAdoF4.js","/assets/space-dialogs-CvJjvyKt.js","/assets/space-page-DxcYaYHX.js","/assets/spaces-page-C3CUKyMg.js","/assets/spans-C9Wm5M_z.js","/assets/state-JpY2Ri4b.js","/assets/still-part-CXHd2Rdn.js","/assets/still-part-CxLIs-Zg.css","/assets/subject-CrEYbiDA.js","/assets/table-B-NLJmU8.js","/assets/tabs-CsWd8YwA.js","/assets/tally-CBGwgObI.js","/assets/trash-DKewxL1N.js","/assets/trial-1ePow-jg.js","/assets/triangle-exclamation-point-BlgXHkrh.js","/assets/trigger-CyQ5kJeA.js","/assets/ui-DtYUzkGU.js","/assets/use-reading-o-yUeIXh.js","/assets/useBaseQuery-C0pbdZ__.js","/assets/useInfiniteQuery-DIgRG9_x.js","/assets/useMutation-CueUly76.js","/assets/user-plus-DhNBLQaE.js","/assets/wake-note-BiSgen9-.js","/assets/wide-DAFaYbGj.js","/assets/words-B2SOeuDc.js","/assets/words-DbU0AmWI.js","/assets/words-DcMN7BWZ.js"]};
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
