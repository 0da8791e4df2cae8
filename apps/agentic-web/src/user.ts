/** With `AUTH_MODE=dev` everything belongs to this user. */
export const LOCAL_USER = 'local'
