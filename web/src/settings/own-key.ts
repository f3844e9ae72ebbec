/** The id that stands for a key where the server asks for none (--auth off). */
export const openKey = "open";
