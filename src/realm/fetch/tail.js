  return web.default(host);
})
