/** The id of the key where the server requires none (--auth off). */
export const openKey = "open";
