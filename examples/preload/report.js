/* Revenue by month and region, with lodash and Day.js, which the host has preloaded. */
(orders) =>
  _(orders)
    .reject({ status: 'cancelled' })
    .groupBy((o) => dayjs(o.placed).format('YYYY-MM'))
    .map((list, month) => ({
      month,
      orders: list.length,
      revenue: _.round(_.sumBy(list, 'amount'), 2),
      best: _.maxBy(_.toPairs(_.mapValues(_.groupBy(list, 'customer.region'),
        (l) => _.sumBy(l, 'amount'))), 1)[0],
    }))
    .sortBy('month')
    .value()
