-- The hold of a mutex: a string whose value is the holder's id and whose time to live is the lease, as clients in other
-- languages have it. Behind an id of dlock's stands a mark while the mutex has a queue: a holder that finds none lets no waiter in
-- when it releases, and does not read the hash. The hash beside it has the queue, the last token and the tombstones of
-- lua/common, and no holds. Replaces lua/common/holds.lua; before it stand record.lua and commit.lua, and `key`, the string's.
--
-- In the hash, in addition to the fields that record.lua lists:
--   h        '1 0 1 <deadline>' while the mutex was held at the last look; only says how long to remember the rest
--   q        until when the mutex is left free for programs that poll; stays until a script lets a waiter in
--   p        since when clients of dlock have handed it over without leaving it free
--   b        '<seen last> <seen first> <value>': the last hold of another program, which polls; 64 bytes of its value
--   g        '<deadline> <id>': the hold that was handed over last, until it is released. Its string is marked
--   i        '<last ms> <id>': a hold that was given its end: it has a tombstone, and yet stays until then
-- Times are the server's.
local FOREVER = 3600000000 -- us: for how long a string without an expiry is taken to stay
local LONGEST = 1000000000000 -- ms: as what a longer expiry counts, so that numbers stay exact
local FREE, APART_LEAST, APART_MOST = 150000, 50000, 5000000 -- us: a free window, and the time between two; see release.lua
local GLANCE = 8000 -- us: how often the first in the queue looks then whether other programs came

local MARK = '+' -- in no id
local function is_own(of) return match(of, '^[%w.:_-]*/' .. string.rep('%x', 16) .. '/%x+$') end
local function unmarked(of)
  local bare = string.sub(of, 1, -2)
  return bare .. MARK == of and is_own(bare) or of
end

-- A command that only a master carries out. `left` may be a millisecond too long.
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
-- A hold that is handed over has a token.
local function hold(hold_id, _, deadline, token)
  millis = max(math.floor((deadline - now) / 1000), 1)
  wanted, value, left, writes, earliest = hold_id, hold_id, millis * 1000, 1, deadline
  if token then set('g', fmt('%d ', deadline) .. hold_id) elseif get1('g') then set('g', '') end
end

local function unhold()
  wanted, value, left, writes, listed = false, false, nil, 0, true
  if get1('g') then set('g', '') end
end

-- Until when the mutex is held by another client that it was handed over to: until then new waiters join the queue without
-- reading the string.
local function passed_on()
  local till, of = match(get1('g') or '', '^(%d+) (.*)$')
  return till and of ~= id and tonumber(till) > now and tonumber(till) or nil
end

-- The string comes after the hash: if a script ends between the two, the holder stays the same. It is overwritten, never
-- removed first: a node from which the slot moves would not let it be made again.
local commit_hash = commit
local function commit(even_if_full)
  -- A new note about a free mutex does not shorten the time for which the hash is kept.
  if f[1] and kept == 0 and (value or keep > 0) then keep = max(keep, now + SLACK, now + 1000 * (call('PTTL', lock) - 1001)) end
  if f[1] or keep > 0 then commit_hash(even_if_full) end -- A mutex without anything to remember has no hash.
  if wanted then
    marked = W.count > 0 or get1('g')
    call('SET', key, marked and wanted .. MARK or wanted, 'PX', fmt('%d', millis))
  elseif wanted == false then
    call('DEL', key)
  end
  wanted = nil
end

-- Marks the string once a position is recorded, so that the holder knows of it. An expired string is not made again.
local function mark()
  if value and not marked and is_own(value) then call('SET', key, value .. MARK, 'XX', 'KEEPTTL') end
end

-- Whether the string is that of a hold that was given up: of a delayed `SET`, or of a hold whose end is over.
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
local function review_some() end
local function witness() return value and now + left or nil end
