// Lets the page open offline: caches the files of the build. The document is taken from the network when there is one,
// so a new version comes with the next load; other files have the hash of their content in their name and never change.
const CACHE = 'app'

self.addEventListener('install', (event) => event.waitUntil(keepEverything()))
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()))
self.addEventListener('fetch', (event) => {
  if (event.request.method === 'GET') event.respondWith(event.request.mode === 'navigate' ? fresh(event.request) : kept(event.request))
})

async function keepEverything() {
  const files = await (await fetch('files.json')).json()
  const cache = await caches.open(CACHE)
  await cache.addAll(['./', 'icon.svg', ...files])
}

async function fresh(request) {
  try {
    return await fetchAndKeep(request)
  } catch {
    return (await caches.match('./')) ?? Response.error()
  }
}

async function kept(request) {
  return (await caches.match(request)) ?? fetchAndKeep(request)
}

async function fetchAndKeep(request) {
  const response = await fetch(request)
  const cache = await caches.open(CACHE)
  if (response.ok) await cache.put(request, response.clone())
  return response
}
