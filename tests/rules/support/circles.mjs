// Circles in a graph of modules, a Map from each module to the modules that it uses.

/** Groups of modules each of which reaches all others of its group, by Tarjan's algorithm. */
export function circlesOf(graph) {
  const [numbers, lowest, stack, circles] = [new Map(), new Map(), [], []]

  function visit(module) {
    numbers.set(module, numbers.size)
    lowest.set(module, numbers.get(module))
    stack.push(module)

    for (const next of graph.get(module) ?? []) {
      if (!numbers.has(next)) visit(next)
      if (stack.includes(next)) lowest.set(module, Math.min(lowest.get(module), lowest.get(next)))
    }

    if (lowest.get(module) !== numbers.get(module)) return
    const circle = stack.splice(stack.indexOf(module))
    if (circle.length > 1 || graph.get(module)?.includes(module)) circles.push(circle.sort())
  }

  for (const module of graph.keys()) if (!numbers.has(module)) visit(module)
  return circles.sort()
}

/** The part of `graph` that lies within `modules`. */
export const within = (graph, modules) =>
  new Map(modules.map((module) => [module, graph.get(module).filter((next) => modules.includes(next))]))

/**
 * Circles between concepts. A module and its own parts (`picker.rs` and `picker/*.rs`) are one concept and may use each other: where a
 * circle is a module with its parts, only circles among those parts count. `isPartOf(part, module)` says who is whose.
 */
export const circlesBetweenConcepts = (graph, isPartOf) =>
  circlesOf(graph)
    .flatMap((circle) => {
      const whole = circle.find((module) => circle.every((part) => part === module || isPartOf(part, module)))
      if (whole === undefined) return [circle]
      const parts = circle.filter((part) => part !== whole)
      return circlesBetweenConcepts(within(graph, parts), isPartOf)
    })
    .sort()
