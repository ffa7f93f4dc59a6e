-- Requests that must stay without effect: acquires that are settled while a copy may still be on its way.
-- Before it stand record.lua and commit.lua.

-- Removes those that are over, at most so many. Returns the number of the first that stands, of the last, and until when
-- the first does.
local function sweep_tombs(many)
  if not get1('z') then return 1, 0, 0 end
  local first, tail, until_then = match(get1('z'), '^(%d+) (%d+) (%d+)$')
  first, tail, until_then = tonumber(first), tonumber(tail), tonumber(until_then)
  if until_then > real then return first, tail, until_then end
  local fields, over = {}, {}
  for i = first, min(first + many, tail) do fields[#fields + 1] = 'z' .. i end
  for _, tomb in ipairs(get(fields)) do
    local till, of = match(tomb or '0 ', '^(%d+) (.*)$')
    until_then = tonumber(till)
    if until_then > real or #over == many then break end
    set('z' .. first, '')
    over[#over + 1] = '-' .. of
    first = first + 1
  end
  -- An id may have been noted again since.
  for i, till in ipairs(get(over)) do
    if till and tonumber(till) <= real then set(over[i], '') end
  end
  set('z', first > tail and '' or fmt('%d %d %d', first, tail, until_then))
  return first, tail, until_then
end

-- An acquire with this id has no effect until then, for a minute at most: requests are valid for less, unless the server's
-- clock has been set back since, or its client saw another one that was ahead.
local function bury(till)
  till = min(till, real + MEMORY)
  local first, tail, until_then = sweep_tombs(2)
  if till <= real or tonumber(get1('-' .. id) or 0) > real then return end
  tail = tail + 1
  set('-' .. id, fmt('%d', till))
  set('z' .. tail, fmt('%d ', till) .. id)
  set('z', fmt('%d %d %d', first, tail, first == tail and till or until_then))
  if not f[1] then set('t', fmt('%d', now)) end
  promise(till + offset)
  -- What a free lock remembers anyway is not cut short, also not if the server's clock has been set back since.
  if reads + writes + W.count + R.count == 0 then
    keep = max(keep, now + MEMORY, now + 1000 * (call('PTTL', lock) - 1001)) -- expire() adds that.
  end
end
