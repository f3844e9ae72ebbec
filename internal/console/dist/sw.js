const build = {"version":"bf9afde515335c60","entry":"/assets/index-4YgiqBUY.js","files":["/","/favicon.svg","/assets/act-as-Bc0ZDxkH.js","/assets/agent-page-W26mUMdZ.js","/assets/agents-page-UsvxeC8k.js","/assets/approvals-page-oWECxtnA.js","/assets/arrow-down-DLVvxwVP.js","/assets/arrow-left-BapVkKrI.js","/assets/arrow-up-D9gMXQIY.js","/assets/ask-back-BbGMLHPa.js","/assets/audit-DlldzbCz.js","/assets/authorize-page-B6tA9WPv.js","/assets/avatar-CVrwv5pQ.js","/assets/away-u1IPs9px.js","/assets/back-C0XaM0v_.js","/assets/badge-DEKfpytA.js","/assets/bell-DFTWF1_F.js","/assets/chart-2N-bK2Pb.js","/assets/check-DRVUGDTu.js","/assets/circle-check-CFIfijqu.js","/assets/circle-dashed-BWfpoRcL.js","/assets/circle-x-D5mAteg4.js","/assets/client-Buj_4-5P.js","/assets/confirm-D5v8W5mn.js","/assets/connect-page-nPE7HM7T.js","/assets/copy-Ck_FYAY9.js","/assets/copyable-BompQ7SA.js","/assets/delete-message-BhPCf1DK.js","/assets/diff-BLCBFPEA.js","/assets/diff-e8ShCLIH.js","/assets/download-CTk43wu-.js","/assets/edit-args-93QtQs4e.js","/assets/edit-message-h2cDWZHP.js","/assets/ellipsis-YOCyTWzM.js","/assets/esm-6P99hEQ5.js","/assets/external-link-0ud_BkUW.js","/assets/field-DdTstNJS.js","/assets/file-text-_VuCbt-U.js","/assets/files-B5PtU8j-.js","/assets/form-HMhVFEiQ.js","/assets/form-answer-CSIH0q8r.js","/assets/fresh-acts-j-Cqh1r5.js","/assets/gallery-Cookoeya.js","/assets/idempotency-BKW_GXBi.js","/assets/identity-CcKNt_1N.js","/assets/index-4YgiqBUY.js","/assets/index-BfYgsyFf.css","/assets/inter-latin-wght-normal-Dx4kXJAl.woff2","/assets/invite-dialog-CSxlb2o2.js","/assets/join-page-CYRjXk5p.js","/assets/json-BI-988gf.js","/assets/key-round-CA60wtpN.js","/assets/landing-CsGqGT9i.js","/assets/link-CAC-EJnM.js","/assets/lock-gdQvl4mZ.js","/assets/mail-DWxSnugk.js","/assets/membership-D-vlE3_G.js","/assets/menu-k-00YRL1.js","/assets/message-history-D9L5x-aR.js","/assets/message-receipts-CNGMAIWc.js","/assets/monitor-smartphone-C5zkE9IW.js","/assets/new-space-DqhcHuq7.js","/assets/notifications-D9iIBf6k.js","/assets/notifier-CwP6Sw8U.js","/assets/own-file-C3Jrs_cX.js","/assets/palette-dialog-8Dumg9nL.js","/assets/panel-BaEaSGHB.js","/assets/part-view-CYBZ773C.js","/assets/path-of-Cx_FL7h-.js","/assets/pencil-Bnacg0zT.js","/assets/people-picker-B9BBaYxp.js","/assets/plan-list-DQ3A8eWk.js","/assets/plans-page-0DKef_-4.js","/assets/play-6H7SMuhr.js","/assets/push-D0hfWhSw.js","/assets/queries-BL1cBXRq.js","/assets/queries-DGnO7-sX.js","/assets/receipt-mark--Ls4l5X_.js","/assets/receipts-BtxWt49C.js","/assets/removable-Dux6qDVF.js","/assets/reply-2UoL4U26.js","/assets/rolldown-runtime-XKyaHtl9.js","/assets/row-menu-D8gRl6OR.js","/assets/run-head-CTAPzHcw.js","/assets/run-page-DMyXeNkN.js","/assets/runners-page-DVOyxWon.js","/assets/runs-DLWQCAaO.js","/assets/runs-page-rQl6xYw6.js","/assets/search-page-CWHZe4Br.js","/assets/send-horizontal-DwilejHv.js","/assets/send-key-BsIo28wD.js","/assets/server-words-CP_1fEYT.js","/assets/sessions-page-dlyY8Jml.js","/assets/settings-only-Di5Cj56P.js","/assets/settings-page-DQyMs-D1.js","/assets/settled-BGdLRvdh.js","/assets/shade-CRIj69ys.js","/assets/shared.worker-D21YUbfo.js","/assets/shortcut-list-XXIow7oH.js","/assets/sign-in-g1zcn8ry.js","/assets/signin-BtfvXt7Y.js","/assets/space-dialogs-CLiZUxlE.js","/assets/space-page-CQfAyyHA.js","/assets/spaces-page-RF7sEVN1.js","/assets/spans-B5yD8sad.js","/assets/state-JUYHCsNJ.js","/assets/still-part-CxLIs-Zg.css","/assets/still-part-UrNjXkZK.js","/assets/subject-DWduB8TS.js","/assets/table-CdlZIFMa.js","/assets/tabs-8oItD7Qr.js","/assets/tally-XAq9rXz1.js","/assets/trash-Q7gPZbp1.js","/assets/trial-BHsgIt1J.js","/assets/triangle-exclamation-point-CjC1Okix.js","/assets/trigger-C2MejJSV.js","/assets/ui-B4juPse0.js","/assets/use-reading-Ch-ngYzA.js","/assets/useBaseQuery-DahkFshU.js","/assets/useInfiniteQuery-DW3BUe2I.js","/assets/useMatch-BORLiySs.js","/assets/useMutation-C5kBORSS.js","/assets/useRouter-DlWLv3u1.js","/assets/user-plus-DfpGeed_.js","/assets/wake-note-fnQzG2kw.js","/assets/wide-BsrVf3kt.js","/assets/words-CW6mfEke.js","/assets/words-DbU0AmWI.js","/assets/words-DcMN7BWZ.js"]};
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
