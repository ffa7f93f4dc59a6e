-- Holds: recording, taking away, and clearing away those whose leases are over.
-- Before it stand record.lua and commit.lua.

local function count_owner(of, mode, change)
  if of == '' then return end
  local r, w = match(get1('@' .. of) or '0 0', '^(%d+) (%d+)$')
  r, w = mode == 'r' and r + change or r + 0, mode == 'w' and w + change or w + 0
  set('@' .. of, r + w > 0 and fmt('%d %d', r, w) or '')
end

-- Before a deadline none of the holds can have expired, if that is sooner than what was noted so far.
local function note_earliest(deadline)
  earliest = min(earliest, deadline)
  local reviewed, first = match(get1('e') or '', '^(%d+) (%d+)$')
  if reviewed and deadline < first + shift then set('e', fmt('%s %d', reviewed, deadline - shift)) end
end

local function write_hold(hold_id, mode, deadline, token, k, of)
  set('+' .. hold_id, fmt('%s %d %d %d ', mode, deadline - shift, token, k) .. of)
end

local function hold(hold_id, mode, deadline, token, of)
  local k = reads + writes + 1
  if k == 1 then earliest, lingers = deadline, '' end
  if string.byte(hold_id, -1) == 126 then lingers = '~' end
  if mode == 'w' then writes = writes + 1 else reads = reads + 1 end
  set('h' .. k, hold_id)
  write_hold(hold_id, mode, deadline, token, k, of)
  count_owner(of, mode, 1)
  note_earliest(deadline)
end

-- Takes a hold away; the last one of the list gets its number.
local function unhold(hold_id, mode, k, of)
  local n = reads + writes
  if k < n then
    local moved = get1('h' .. n)
    local before, after = match(get1('+' .. moved), '^(%a %d+ %d+ )%d+( .*)$')
    set('+' .. moved, before .. k .. after)
    set('h' .. k, moved)
  end
  set('h' .. n, '')
  set('+' .. hold_id, '')
  if mode == 'w' then writes = writes - 1 else reads = reads - 1 end
  count_owner(of, mode, -1)
end

-- A hold whose lease is not over: its fields.
local function live_hold(who)
  local mode, deadline, token, k, of = match(get1('+' .. who) or '', '^(%a) (%d+) (%d+) (%d+) (.*)$')
  deadline = mode and deadline + shift
  if not mode or deadline <= now then return nil end
  return {id = who, mode = mode, deadline = deadline, token = tonumber(token), k = tonumber(k), owner = of}
end

-- At the end of a write phase all waiting readers enter next.
local function end_write_phase()
  if writes == 0 then R.phase = R.tail end
end

-- Goes through the holds from `from` down, at most so many of them, `size` at first, and takes the expired ones away, until
-- `stop` says so of one that lives. Returns the number of the next one: 0 at the end.
local function walk(from, most, size, stop)
  local k, wrote = from, writes > 0
  local least = max(from - most, 0)
  while k > least do
    local first, fields, records = max(k - size + 1, least + 1), {}, {}
    for i = first, k do fields[#fields + 1] = 'h' .. i end
    local ids = get(fields)
    for i, of in ipairs(ids) do records[i] = '+' .. of end
    records = get(records)
    for i = #ids, 1, -1 do
      local mode, deadline, _, of = match(records[i], '^(%a) (%d+) (%d+) %d+ (.*)$')
      deadline = deadline + shift
      if deadline <= now then
        unhold(ids[i], mode, first + i - 1, of)
      elseif stop(deadline) then
        if wrote then end_write_phase() end
        return first + i - 1
      end
    end
    k, size = first - 1, size * 8
  end
  if wrote then end_write_phase() end
  return k
end

-- Takes expired holds away, at most so many, and finds out when the next one may expire. Whether there are more.
local function review_some(most)
  if earliest > now or reads + writes == 0 then return false end
  local from, first = match(get1('e') or '', '^(%d+) (%d+)$')
  if first and first + shift <= now then from, first = nil, nil end -- One that was reviewed is over by now: all over again.
  from, first = min(tonumber(from) or math.huge, reads + writes), first and first + shift or math.huge
  local left = walk(from, most, most, function(deadline)
    first = min(first, deadline)
    return false
  end)
  if left > 0 then
    set('e', fmt('%d %d', left, min(first, 9007199254740991) - shift))
  else
    earliest = first
    if get1('e') then set('e', '') end
  end
  return left > 0
end

-- Takes all expired holds away, in pieces: `again` if there are more.
local function review()
  if review_some(PIECE) then again = true end
end

-- A live hold: until when it lasts at least. Takes expired ones away that it meets.
local function witness()
  if reads + writes == 0 then return nil end
  if earliest > now then return earliest end
  local found
  local left = walk(reads + writes, PIECE, 1, function(deadline)
    found = deadline
    return true
  end)
  if found then
    if reads + writes == 1 then
      earliest = found
      if get1('e') then set('e', '') end
    end
    return found
  end
  again = left > 0
  return again and now + 1 or nil
end
