// What the profile `prod` refuses to start with. Each is one line that says what to change.
type Env = Readonly<Record<string, string | undefined>>

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\]|.*\.localhost)$/

export function unsafeSettings(env: Env): string[] {
  const issuers = ['OAUTH_OPENAI_ISSUER', 'OAUTH_OIDC_ISSUER'].filter((name) => env[name] && !env[name]?.startsWith('https:'))
  return [
    ...unsafeAddress(env.PUBLIC_URL),
    ...((env.AUTH_MODE || 'dev') === 'dev' ? ['AUTH_MODE=dev has no sign-in; set it to password or oidc'] : []),
    ...(env.AUTH_MODE === 'oidc' && !env.OAUTH_OIDC_CLIENT_ID ? ['AUTH_MODE=oidc needs OAUTH_OIDC_ISSUER and OAUTH_OIDC_CLIENT_ID'] : []),
    ...(env.APP_KEYS ? [] : ['APP_KEYS is not set; make a key with the command new-key and keep it with your other secrets']),
    ...(env.DATABASE_URL?.startsWith('file:') ? ['DATABASE_URL is a file; several processes need Postgres'] : []),
    ...(env.OAUTH_CALLBACK === 'loopback' ? ['OAUTH_CALLBACK=loopback is for dev-local; leave it out'] : []),
    ...(env.ALLOWED_HOSTS?.split(',').some((name) => name.trim() === '*') ? ['ALLOWED_HOSTS=* answers for any name; name yours'] : []),
    ...issuers.map((name) => `${name} must begin with https:`),
    ...(env.ALLOW_CRASH === '1' ? ['ALLOW_CRASH=1 lets a model kill workers; leave it out'] : []),
  ]
}

function unsafeAddress(publicUrl: string | undefined): string[] {
  if (!publicUrl || !URL.canParse(publicUrl))
    return ['PUBLIC_URL is not set; browsers and other services need it, such as https://chat.example.com']
  const { protocol, hostname } = new URL(publicUrl)
  if (protocol !== 'https:') return ['PUBLIC_URL must begin with https:']
  return LOOPBACK.test(hostname) ? ['PUBLIC_URL is this machine; other services cannot send users back to it'] : []
}
