-- Writing what was `set`, with an expiry, in one step: `promise` says how long the key has to live, `commit` writes.
-- Before it stands record.lua.

local kept = tonumber(f[5] or 0)
local keep, listed, giving, again = kept, false, false, false
-- Notes that the lock must be remembered beyond a deadline.
local function promise(deadline)
  if deadline > keep then keep = deadline + SLACK end
end

local function expire(span)
  return redis.pcall('PEXPIREAT', lock, fmt('%d', math.floor((now - offset + span) / 1000) + 1001))
end

local function fails(reply)
  return type(reply) == 'table' and reply.err
end

local function must(reply)
  if fails(reply) then error(reply.err) end
end

local heads = {'h', 'w', 'r'}

-- Writes all changes. With `even_if_full` also to a server that is out of memory: once a script has written, even
-- if to no effect, it may go on.
local function commit(even_if_full)
  local total, lines = reads + writes, W.count + R.count
  local h, w, r
  if total > 0 then h = fmt('1 %d %d %d', reads, writes, earliest - shift) .. lingers end
  if W.tail > 0 and lines > 0 then w = fmt('1 %d %d %d %d', W.count, W.head, W.front, W.tail) end
  if R.tail > 0 and lines > 0 then
    r = fmt('1 %d %d %d %d %d %d', R.count, R.head, R.front, R.tail, R.phase, R.told)
  end
  local freed = not (h or w or r) and (f[2] or f[3] or f[4] or listed)
  if freed then
    for _, field in ipairs({'e', 'x', giving and 'o' or 'e', giving and 'n' or 'e'}) do
      if get1(field) then set(field, '') end
    end
  end
  for i, value in ipairs({h or '', w or '', r or ''}) do
    if value ~= (f[i + 1] or '') then
      set(heads[i], value)
      f[i + 1] = value ~= '' and value
    end
  end
  if not order[1] then return end
  -- A token that the clock has not come to yet is not forgotten before.
  if offset > 0 and (h or w or r) then promise(last + offset) end
  local longer = keep > kept
  if longer and (h or w or r) then set('x', fmt('%d', keep)) end
  local changes, gone = {}, {}
  for i, field in ipairs(order) do
    local value = pending[field]
    changes[2 * i - 1], changes[2 * i] = field, value
    if value == '' then gone[#gone + 1] = field end
    known[field] = value
  end
  pending = {}
  -- The expiry comes first, so that no record is ever without; a key that is not there yet gets it afterwards.
  -- A free lock has an expiry of its own, in the server's time.
  local moved = keep > 0 and known.o ~= (f[6] or '')
  if f[1] and not freed and (longer or moved) then must(expire(keep - now)) end
  local full = fails(redis.pcall('HSET', lock, unpack(changes)))
  if full then
    if even_if_full then call('HDEL', lock, '') end
    call('HSET', lock, unpack(changes))
  end
  if not f[1] then
    local failure = expire(keep - now)
    if fails(failure) then
      call('HDEL', lock, unpack(order))
      must(failure)
    end
  elseif freed and keep > 0 then
    expire(max(min(keep - now, MEMORY), offset > 0 and last + offset - now or 0))
  end
  f[1], f[6], kept, order = true, known.o ~= '' and known.o, keep, {}
  for i = 1, #gone, 1000 do
    call('HDEL', lock, unpack(gone, i, min(i + 999, #gone)))
  end
  if freed then kept, keep, listed = 0, 0, false end
end
