  return web.default(natives, host);
})
