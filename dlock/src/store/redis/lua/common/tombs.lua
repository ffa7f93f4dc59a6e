-- Requests that must stay without effect: acquires that are settled while a copy may still be on its way.
-- Before it stand record.lua, commit.lua, holds.lua and line.lua.

local function sweep_tombs(many)
  if not get1('z') then return 1, 0 end
  local first, tail = match(get1('z'), '^(%d+) (%d+)$')
  first, tail = tonumber(first), tonumber(tail)
  local old, due = first, {}
  for _ = 1, many do
    if first > tail then break end
    local till, of = match(get1('z' .. first) or '0 ', '^(%d+) (.*)$')
    if tonumber(till) > real then break end
    set('z' .. first, '')
    if of ~= '' then due[#due + 1] = '-' .. of end
    first = first + 1
  end
  -- An id may have been noted again since.
  for i, till in ipairs(get(due)) do
    if till and tonumber(till) <= real then set(due[i], '') end
  end
  if first > tail then set('z', '') elseif first > old then set('z', fmt('%d %d', first, tail)) end
  return first, tail
end

-- An acquire with this id has no effect until then.
local function bury(till)
  local first, tail = sweep_tombs(2)
  if till <= real or tonumber(get1('-' .. id) or 0) > real then return end
  tail = tail + 1
  set('-' .. id, fmt('%d', till))
  set('z' .. tail, fmt('%d ', till) .. id)
  set('z', fmt('%d %d', first, tail))
  if not f[1] then set('t', fmt('%d', now)) end
  -- For a minute at most: requests are valid for less, unless the server's clock has been set back since.
  promise(min(till, real + MEMORY) + offset)
  -- What a free lock remembers anyway is not cut short, also not if the server's clock has been set back since.
  if reads + writes + W.count + R.count == 0 then
    keep = max(keep, now + MEMORY, now + 1000 * (call('PTTL', lock) - 1001)) -- expire() adds that.
  end
end
