const build = {"version":"a863c69dd2a28793","entry":"/assets/index-C2EXfOQ9.js","files":["/","/favicon.svg","/assets/act-as-D9Rs4S3N.js","/assets/agent-page-DtlJeCK8.js","/assets/agents-page-BclapmzB.js","/assets/approvals-page-cWjZ3K0i.js","/assets/arrow-down-DLVvxwVP.js","/assets/arrow-left-BapVkKrI.js","/assets/arrow-up-D9gMXQIY.js","/assets/ask-back-CrgdLdEL.js","/assets/audit-CgeAZf9b.js","/assets/authorize-page-DmEomrB1.js","/assets/avatar-zFJt8NXn.js","/assets/away-u1IPs9px.js","/assets/back-BoBJsJzk.js","/assets/badge-DEKfpytA.js","/assets/bell-DFTWF1_F.js","/assets/chart-kVvkVk6j.js","/assets/check-DRVUGDTu.js","/assets/circle-check-CFIfijqu.js","/assets/circle-dashed-BWfpoRcL.js","/assets/circle-x-D5mAteg4.js","/assets/client-Buj_4-5P.js","/assets/confirm-BKisoPAg.js","/assets/connect-page-Din7o3TC.js","/assets/copy-Ck_FYAY9.js","/assets/copyable-BompQ7SA.js","/assets/delete-message-CKqNXWXA.js","/assets/diff-B095aeaj.js","/assets/diff-FvMw4dsb.js","/assets/download-CTk43wu-.js","/assets/edit-args-B3W3gI3v.js","/assets/edit-message-DqXyauDo.js","/assets/ellipsis-YOCyTWzM.js","/assets/esm-CGs6eFc-.js","/assets/external-link-0ud_BkUW.js","/assets/field-DdTstNJS.js","/assets/file-text-_VuCbt-U.js","/assets/files-DxlwJYzE.js","/assets/form-BMYNoaC0.js","/assets/form-answer-CyoDpiiD.js","/assets/fresh-acts-plTFm3iX.js","/assets/gallery-DTwisCks.js","/assets/idempotency-BKW_GXBi.js","/assets/identity-CcKNt_1N.js","/assets/index-C2EXfOQ9.js","/assets/index-CLxSu46L.css","/assets/inter-latin-wght-normal-Dx4kXJAl.woff2","/assets/invite-dialog-DThqpniS.js","/assets/join-page-CADNaH-A.js","/assets/json-BI-988gf.js","/assets/key-round-CA60wtpN.js","/assets/landing-BBvH_gTQ.js","/assets/link-CAC-EJnM.js","/assets/lock-gdQvl4mZ.js","/assets/mail-DWxSnugk.js","/assets/membership-B2E-X8Dh.js","/assets/menu-k-00YRL1.js","/assets/message-history-D6W3PXmU.js","/assets/message-receipts-DUQHWIIc.js","/assets/monitor-smartphone-C5zkE9IW.js","/assets/new-space-D0yB1uGP.js","/assets/notifications-DWmIuecJ.js","/assets/notifier-CwP6Sw8U.js","/assets/own-file-C3Jrs_cX.js","/assets/palette-dialog-CtjDygkn.js","/assets/panel-BcgzDpYP.js","/assets/part-view-DxlqYS23.js","/assets/path-of-Cx_FL7h-.js","/assets/pencil-Bnacg0zT.js","/assets/people-picker-BFDo2vvA.js","/assets/plan-list-B0N0eBI7.js","/assets/plans-page-uCVu_j4x.js","/assets/play-6H7SMuhr.js","/assets/push-D0hfWhSw.js","/assets/queries-BtSZT9ld.js","/assets/queries-DFODLVSN.js","/assets/receipt-mark-BwhMu-2Z.js","/assets/receipts-DlHtATnt.js","/assets/removable-Dux6qDVF.js","/assets/reply-2UoL4U26.js","/assets/rolldown-runtime-XKyaHtl9.js","/assets/row-menu-C090C6qE.js","/assets/run-head-CcDHo6Gd.js","/assets/run-page-fAPEcVAm.js","/assets/runners-page-B66HHqjA.js","/assets/runs-Bej6C_0k.js","/assets/runs-page-jekqe7dh.js","/assets/search-page-B6K0Ljug.js","/assets/send-horizontal-DwilejHv.js","/assets/send-key-BsIo28wD.js","/assets/server-words-CP_1fEYT.js","/assets/sessions-page-CeF6IGGg.js","/assets/settings-only-DMbAeaHB.js","/assets/settings-page-DYF1g1Pv.js","/assets/settled-BRn-o3-k.js","/assets/shade-B5jj5y_z.js","/assets/shared.worker-D21YUbfo.js","/assets/shortcut-list-CmSrna2T.js","/assets/sign-in-ByEK7d8X.js","/assets/signin-C3DRkZ0g.js","/assets/space-dialogs-7p4Ew3C5.js","/assets/space-page-Ci1HiOEN.js","/assets/spaces-page-A3bDHvpe.js","/assets/spans-DS4cwSym.js","/assets/state-1u_YYnqH.js","/assets/still-part-CxLIs-Zg.css","/assets/still-part-DiK4vq_J.js","/assets/subject-xvJIGG1N.js","/assets/table-DQy1nGar.js","/assets/tabs-8oItD7Qr.js","/assets/tally-DussQ3Bc.js","/assets/trash-Q7gPZbp1.js","/assets/trial-BO2dLdX2.js","/assets/triangle-exclamation-point-CjC1Okix.js","/assets/trigger-D7b60eyf.js","/assets/ui-B4juPse0.js","/assets/use-reading-CPWHjfrG.js","/assets/useBaseQuery-DahkFshU.js","/assets/useInfiniteQuery-DW3BUe2I.js","/assets/useMatch-BORLiySs.js","/assets/useMutation-B2XTBeE6.js","/assets/useRouter-DlWLv3u1.js","/assets/user-plus-DfpGeed_.js","/assets/wake-note-Bic7DYEW.js","/assets/wide-DavzWnGt.js","/assets/words-CW6mfEke.js","/assets/words-DbU0AmWI.js","/assets/words-DcMN7BWZ.js"]};
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
