-- Remembers a token that another server has named for the same hold, as raise.lua does.
--
-- KEYS  1 the mutex (see mutex/string.lua), 2 its hash
-- ARGV  1 hold id, 2 the token
-- Returns  1 by this hold | 0 no such hold: released before, or expired
local call = redis.call
local key, lock, id, token = KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[2])
local time, owner, pub, known = call('TIME'), '', nil, {}
-- include: record
return (function() -- A function of its own; record.lua says why.
-- include: commit string
local mine = value == id
if not mine and token < now then return 0 end
last = max(last, token)
set('t', fmt('%d', last))
local step = offset
now = real + offset
local first = max(last, noted)
if now < first then
  if first - now > STEP then
    offset = first - real
    set_offset()
  end
  now = first
end
if keep > 0 then keep = keep + offset - step end
promise(now + (mine and left + 1000 or 0))
if value then earliest = now + left end
-- What a free mutex remembers anyway is not cut short.
if not value and W.count == 0 then keep = max(keep, last + offset, now + 1000 * (call('PTTL', lock) - 1001)) end
commit(true)
return mine and 1 or 0
end)()
