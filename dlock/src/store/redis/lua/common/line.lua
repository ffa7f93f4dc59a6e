-- The line: places of writers and of readers, who is at the front, and clearing away those who went.
-- Before it stand record.lua, commit.lua and holds.lua.

local function read_waiter(line, i, record)
  local who, deadline, before, ear, nonce, since, of = match(record, '^(%S+) (%d+) (%d+) (%d) (%S+) (%d+) (.*)$')
  return {id = who, line = line, i = i, deadline = tonumber(deadline), before = tonumber(before), ear = ear,
    nonce = nonce, since = tonumber(since), owner = of}
end

local function write_waiter(waiter)
  set(waiter.line.kind .. waiter.i, fmt('%s %d %d %s %s %d ', waiter.id, waiter.deadline, waiter.before, waiter.ear,
    waiter.nonce, waiter.since) .. waiter.owner)
end

local function leave(waiter)
  set(waiter.line.kind .. waiter.i, '')
  set('?' .. waiter.id, '')
  waiter.line.count = waiter.line.count - 1
end

local function join(waiter)
  local line = waiter.line
  line.tail = line.tail + 1
  line.count = line.count + 1
  waiter.i = line.tail
  set('?' .. waiter.id, line.kind .. waiter.i)
  write_waiter(waiter)
end

-- The places from `i` on, a few more each time: calls `each(i, waiter)` until that returns true.
local function pass_along(line, i, upto, each)
  local size, seen = 1, 0
  while i <= upto do
    local fields = {}
    for j = i, min(upto, i + size - 1) do fields[#fields + 1] = line.kind .. j end
    for j, record in ipairs(get(fields)) do
      if each(i + j - 1, record and read_waiter(line, i + j - 1, record)) then return end
    end
    i, seen = i + #fields, seen + #fields
    if seen >= 8 * PIECE then
      again = true
      return
    end
    size = min(size * 8, PIECE)
  end
end

local cleared = 0
-- The first waiter of a line who lives and can hear. Places before it that are empty or over are gone for good.
local function front(line)
  local found
  pass_along(line, line.front, line.tail, function(i, waiter)
    if waiter and waiter.deadline > now and waiter.ear ~= '2' then
      found = waiter
      return true
    end
    if waiter and waiter.deadline <= now then
      if cleared == CLEAR then
        again = true
        return true
      end
      leave(waiter)
      waiter, cleared = nil, cleared + 1
    end
    if not waiter and line.head == i then line.head = i + 1 end
    line.front = i + 1
  end)
  return found
end

-- Removes some of the places that are over before the front.
local function sweep(line)
  if line.head >= line.front then return end
  pass_along(line, line.head, min(line.front - 1, line.head + 8), function(i, waiter)
    if waiter and waiter.deadline > now then return true end
    if waiter then leave(waiter) end
    line.head = i + 1
  end)
end

-- The place of an id, if it is still kept.
local function place_of(who)
  local field = get1('?' .. who)
  if not field then return nil end
  local line, i = string.byte(field) == 87 and W or R, tonumber(string.sub(field, 2)) -- 'W'
  local record = get1(field)
  local waiter = record and read_waiter(line, i, record)
  if not waiter or waiter.id ~= who then return nil end
  if waiter.deadline > now then return waiter end
  leave(waiter)
  return nil
end
