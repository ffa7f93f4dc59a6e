-- The line: places of writers and of readers, who is at the front, and clearing away those who went. A place that has
-- ended is passed over, and kept for a while: the server may have stood still, and its waiter be about to ask again.
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

-- Whether a waiter is to be reckoned with: its place has not ended, and it has heard what it was told.
local function counts(waiter) return waiter.deadline > now and waiter.ear ~= '2' end

-- Whether a place is not kept any more.
local function is_over(waiter)
  local after = waiter.line.tail - waiter.i < MOST and KEPT or 0
  return waiter.deadline + after <= now
end

-- The places from `i` on, a few more each time, about `most` in one script: calls `each(i, waiter)` until that returns true.
local function pass_along(line, i, upto, most, each)
  local size, seen = 1, 0
  while i <= upto do
    local fields = {}
    for j = i, min(upto, i + size - 1) do fields[#fields + 1] = line.kind .. j end
    for j, record in ipairs(get(fields)) do
      if each(i + j - 1, record and read_waiter(line, i + j - 1, record)) then return end
    end
    i, seen = i + #fields, seen + #fields
    if seen >= most then
      again = true
      return
    end
    size = min(size * 8, PIECE)
  end
end

local cleared = 0
-- The first waiter of a line who counts. Places before it that are empty or over are gone for good.
local function front(line)
  local found
  pass_along(line, line.front, line.tail, 4 * PIECE, function(i, waiter)
    if waiter and counts(waiter) then
      found = waiter
      return true
    end
    if waiter and is_over(waiter) then
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
  pass_along(line, line.head, min(line.front - 1, line.head + 8), 8 * PIECE, function(i, waiter)
    if waiter and not is_over(waiter) then return true end
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
  if not is_over(waiter) then return waiter end
  leave(waiter)
  return nil
end

-- Keeps the key for as long as a place.
local function promise_place(deadline) promise(deadline + KEPT) end

-- A waiter asks again, and says what it hears: if it was passed over, it counts again, where it stood.
local function hear_from(place, ear, deadline)
  if not counts(place) then place.line.front = min(place.line.front, place.i) end
  if place.deadline <= now then
    place.deadline = deadline
    promise_place(deadline)
  end
  place.ear = ear
  write_waiter(place)
end

-- A reader that was told to enter found the lock taken: it has to be told once more.
local function told_in_vain(place)
  if place.line == R then R.told = min(R.told, place.i - 1) end
end
