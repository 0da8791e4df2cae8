/** Until people can sign in, everything belongs to this user. */
export const LOCAL_USER = 'local'
