// Here, so that the packages beside it are found and not those of the repository.
/** @param {string} name */
export const load = (name) => import(name)
