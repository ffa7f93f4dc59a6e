-- Reads the state of a lock; changes nothing.
--
-- KEYS  lock (see common/record.lua)
-- ARGV  1 how many holds, and how many waiters, to list at most
-- Returns  {last token, holds, waiters, more holds, more waiters}
--          holds    flat: id, mode, us left, token, us since then, owner ('' = the hold stands for itself), ...
--          waiters  flat, writers first, each queue in order: id, mode, us left of the position, us since it was
--                   taken (0 if the clock has been set back further), ...
--          more     how many records were not read; some of them may have expired
local call = redis.call
local lock, id, owner, pub, known = KEYS[1], '', '', nil, {}
local fields, time = call('HLEN', lock), call('TIME')
-- include: record
return (function() -- A function of its own; record.lua says why.
-- include: commit holds line only_hold
local most, holds, waiters = tonumber(ARGV[1]), {}, {}
refused = list_only_hold(fields)
if refused then return redis.error_reply(refused) end
local listed = min(most, reads + writes)
for k = 1, listed do
  local of = get1('h' .. k)
  local mode, deadline, token, _, label = match(get1('+' .. of), '^(%a) (%d+) (%d+) (%d+) (.*)$')
  deadline = deadline + shift
  if deadline > now then
    for _, value in ipairs({of, mode, deadline - now, tonumber(token), now - token, label}) do
      holds[#holds + 1] = value
    end
  end
end
local seen = 0
for _, line in ipairs({W, R}) do
  pass_along(line, line.head, line.tail, 8 * PIECE, function(_, waiter)
    if #waiters >= 4 * most then return true end
    seen = seen + (waiter and 1 or 0)
    if waiter and waiter.deadline > now then
      for _, value in ipairs({waiter.id, line == W and 'w' or 'r', waiter.deadline - now, max(now - waiter.since, 0)}) do
        waiters[#waiters + 1] = value
      end
    end
  end)
end
return {last, holds, waiters, reads + writes - listed, W.count + R.count - seen}
end)()
