-- The hold of a mutex: a string whose value is the holder's id and whose time to live is the lease, as clients in other
-- languages have it. Behind an id of dlock's stands a mark while others wait in the line: who finds none has nobody to look
-- after when it releases, and needs no look at the hash. The hash beside it has the line, the last token and the notes of lua/common, and no holds.
-- Stands in for lua/common/holds.lua; before it stand record.lua and commit.lua, and `key`, the string's.
--
-- In the hash, besides what record.lua says:
--   h        '1 0 1 <deadline>' while the mutex was held at the last look; only says how long to remember the rest
--   q        until when the mutex is left free for clients that know no line; stays until a script lets somebody in
--   p        since when clients of dlock have passed it on without leaving it free
--   b        '<seen last> <seen first> <value>': the last hold of somebody who knows no line; 64 bytes of its value
--   g        '<deadline> <id>': the hold that was passed on last, until it is given back. Its string is marked
--   i        '<last ms> <id>': a hold that was given its end, which then is noted as what has no effect any more, and yet
--            stays until then
-- Times are the server's.
local FOREVER = 3600000000 -- us: for how long a string without an expiry is taken to stay
local LONGEST = 1000000000000 -- ms: as what a longer expiry counts, so that numbers stay exact
local FREE, APART_LEAST, APART_MOST = 150000, 50000, 5000000 -- us: a free moment, and how far they are apart; see release.lua
local GLANCE = 8000 -- us: how often the first in line looks then whether others come

local MARK = '+' -- in no id
local function is_own(of) return match(of, '^[%w.:_-]*/' .. string.rep('%x', 16) .. '/%x+$') end
local function unmarked(of)
  local bare = string.sub(of, 1, -2)
  return bare .. MARK == of and is_own(bare) or of
end

-- A look that only a master allows. What is `left` may be a millisecond more.
local value, left = call('GETEX', key), nil
local bare = value and unmarked(value)
local marked = bare ~= value
value = bare
if value then
  left = call('PTTL', key)
  left = left < 0 and FOREVER or min(left, LONGEST) * 1000
end
reads, writes, earliest = 0, value and 1 or 0, value and now + left or 0

-- What `commit` is to make of the string: its value and expiry, or false to remove it.
local wanted, millis
-- One that is passed on has a token.
local function hold(hold_id, _, deadline, token)
  millis = max(math.floor((deadline - now) / 1000), 1)
  wanted, value, left, writes, earliest = hold_id, hold_id, millis * 1000, 1, deadline
  if token then set('g', fmt('%d ', deadline) .. hold_id) elseif get1('g') then set('g', '') end
end

local function unhold()
  wanted, value, left, writes, listed = false, false, nil, 0, true
  if get1('g') then set('g', '') end
end

-- Until when the mutex is somebody else's to whom it was passed on: then who comes anew joins the line without a look at the
-- string.
local function passed_on()
  local till, of = match(get1('g') or '', '^(%d+) (.*)$')
  return till and of ~= id and tonumber(till) > now and tonumber(till) or nil
end

-- The string comes after the hash: if a script ends between the two, whoever had it still has it. It is overwritten, never
-- removed first: a node from which the slot moves would not let it be made again.
local commit_hash = commit
local function commit(even_if_full)
  -- What is remembered of a free mutex is not cut short by what is noted now.
  if f[1] and kept == 0 and (value or keep > 0) then keep = max(keep, now + SLACK, now + 1000 * (call('PTTL', lock) - 1001)) end
  if f[1] or keep > 0 then commit_hash(even_if_full) end -- Who has nothing to remember has no hash.
  if wanted then
    marked = W.count > 0 or get1('g')
    call('SET', key, marked and wanted .. MARK or wanted, 'PX', fmt('%d', millis))
  elseif wanted == false then
    call('DEL', key)
  end
  wanted = nil
end

-- Who has a place tells the holder so, once the place is on record. A string that is over by now is not made again.
local function mark()
  if value and not marked and is_own(value) then call('SET', key, value .. MARK, 'XX', 'KEEPTTL') end
end

-- Whether the holder has given up by now: a plain `SET`, or a copy of it, that came late, or who was to have an end by now.
local function is_stray()
  if not value or tonumber(get1('-' .. value) or 0) <= real then return false end
  local millis_then, of = match(get1('i') or '', '^(%d+) (.*)$')
  -- `TIME` is later than the moment by which `PTTL` counts, by as long as the server's process did not run in between.
  return of ~= value or math.floor(real / 1000) + left / 1000 > millis_then + 1000
end

local function live_hold(who)
  return value == who and {id = who, mode = 'w', k = 1, owner = ''} or nil
end

local function end_write_phase() end
local function review() end
local function witness() return value and now + left or nil end
