const build = {"version":"36cc86209efa16e2","entry":"/assets/index-BTK5vCCs.js","files":["/","/favicon.svg","/assets/act-as-DJSHzokz.js","/assets/agent-page-CKobikPv.js","/assets/agents-page-DOnmahVs.js","/assets/approvals-page-BXenr8bc.js","/assets/arrow-down-Bjymk8zv.js","/assets/arrow-left-wjifGMf9.js","/assets/arrow-up-B1vVkjPT.js","/assets/ask-back-C1n-iPWI.js","/assets/audit-CDeE1_bm.js","/assets/authorize-page-B5jOrok7.js","/assets/avatar-DiF5yJj7.js","/assets/away-Di6ZbBgt.js","/assets/back-BWXnSiCR.js","/assets/badge-OlM7p4IH.js","/assets/bell-okKivBzH.js","/assets/chart-JUHnDnPS.js","/assets/check-VfGofE1c.js","/assets/circle-check-BtN1rW0g.js","/assets/circle-dashed-3yQJQ1fY.js","/assets/circle-x-CWNeZKO_.js","/assets/client-CORYsCki.js","/assets/confirm-Cy4DTrxc.js","/assets/connect-page-DmjZtBp1.js","/assets/copy-Cw9GS9DH.js","/assets/copyable-BOV--gZT.js","/assets/delete-message-eFRfs-54.js","/assets/diff-BS1mqlM-.js","/assets/diff-DzoJ9GEa.js","/assets/download-at5mL7Vd.js","/assets/edit-args-B53mtyvI.js","/assets/edit-message-BvVinGEI.js","/assets/ellipsis-DI0C_aHp.js","/assets/esm-CQQeCOj-.js","/assets/external-link-ulqb6JD0.js","/assets/field-8KFLv8fY.js","/assets/file-text-CQ5Hsjn3.js","/assets/files-B3Mh_IiT.js","/assets/form-answer-DCFWyorN.js","/assets/form-yuGJ1MKv.js","/assets/fresh-acts-XJvOCAj9.js","/assets/gallery-Br-X6hln.js","/assets/idempotency-DbvdWZTq.js","/assets/identity-BvJ8_BvO.js","/assets/index-BTK5vCCs.js","/assets/index-DFTFdB1j.css","/assets/inter-latin-wght-normal-Dx4kXJAl.woff2","/assets/invite-dialog-DtM6GRnj.js","/assets/join-page-BVn-R062.js","/assets/json-oGvKrJp5.js","/assets/key-round-BjlgnXAV.js","/assets/landing-Dt2LAYXt.js","/assets/link-_VjVfRmU.js","/assets/lock-CARVC4hh.js","/assets/mail-D82IIBCR.js","/assets/membership-B8TQo8OG.js","/assets/menu-BziP3FW3.js","/assets/message-history-8a2uhuUU.js","/assets/message-receipts-Bbpv4ALY.js","/assets/monitor-smartphone-X44KcoAY.js","/assets/new-space-Ov00jktP.js","/assets/notifications-B2CrDBdc.js","/assets/notifier-CwP6Sw8U.js","/assets/own-file--pLIOtKS.js","/assets/palette-dialog-Cv-Nokmg.js","/assets/panel-BIdSEQaX.js","/assets/part-view-BM9Ynwq3.js","/assets/path-of-Cx_FL7h-.js","/assets/pencil-CePJfeu3.js","/assets/people-picker-BrpQEmj1.js","/assets/plan-list-DhplyxW8.js","/assets/plans-page-m57JxYfu.js","/assets/play-VdaWEgad.js","/assets/push-BrwXAq_e.js","/assets/queries-CUEwE3E_.js","/assets/queries-D52Jd8mW.js","/assets/receipt-mark-Fq6x7nJI.js","/assets/receipts-BFpMRe3P.js","/assets/removable-BriInlq6.js","/assets/reply-2UoL4U26.js","/assets/rolldown-runtime-XKyaHtl9.js","/assets/row-menu-BYN8bVI3.js","/assets/run-head-BWyqwtSC.js","/assets/run-page-CA6Q0GOy.js","/assets/runners-page-CMNUav9C.js","/assets/runs-Bfzv87ay.js","/assets/runs-page-DEEtixDo.js","/assets/search-page-7T9HoI9U.js","/assets/send-horizontal-DbG2PpJ8.js","/assets/send-key-BsIo28wD.js","/assets/server-words-CP_1fEYT.js","/assets/sessions-page-Cz6YbC-4.js","/assets/settings-only-CpHoHv74.js","/assets/settings-page-J795_3aS.js","/assets/settled-dqVjvXzi.js","/assets/shade-BXLwe2bj.js","/assets/shared.worker-D21YUbfo.js","/assets/shortcut-list-B7HFZxwW.js","/assets/sign-in-D7hfYc9E.js","/assets/signin-DiFVgINe.js","/assets/space-dialogs-DtYUBuqx.js","/assets/space-page-4-4GVVbG.js","/assets/spaces-page-tpCrJaK9.js","/assets/spans-BuK-Ey2v.js","/assets/state-BGDCi1hE.js","/assets/still-part-BkJkD4f3.js","/assets/still-part-CxLIs-Zg.css","/assets/subject-BrHAThp7.js","/assets/table-Ci1OMw6c.js","/assets/tabs-BTYQ9nNc.js","/assets/tally-BQovXxs5.js","/assets/trash-B4EOb5El.js","/assets/trial-DM9Za0Ip.js","/assets/triangle-exclamation-point-D7gEmFp6.js","/assets/trigger-DtaJ1YYx.js","/assets/ui-qPh1Rn35.js","/assets/use-reading-B9_1WTRi.js","/assets/useBaseQuery-nr4DtQge.js","/assets/useInfiniteQuery-DRVk815x.js","/assets/useMatch-CVU6z4yV.js","/assets/useMutation-DEB8FLlB.js","/assets/useRouter-CX71hikc.js","/assets/user-plus-BXaGPbhh.js","/assets/wake-note-D-S8AIdm.js","/assets/wide-D44iBmoA.js","/assets/words-CfLSPqGX.js","/assets/words-DbU0AmWI.js","/assets/words-DcMN7BWZ.js"]};
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
