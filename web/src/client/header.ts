/** The header in which an admin names the acting entity (contract, section 2). */
export const entityHeader = "X-Shoal-Entity";
