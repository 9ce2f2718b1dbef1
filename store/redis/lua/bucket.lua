-- A bucket: what it owes is TAT - now*rate. TAT is kept as q = floor(TAT/rate) and r = TAT mod rate,
-- so that no number here reaches 2^53. A value is q alone where rate is 1, q and r where it is
-- more, and what is owed itself where nothing is ever earned.
--
-- bucket_take returns permits taken, whether to write, and what was owed before.
local function bucket_take(key, o, least, most)
  local rate, unit, units = tonumber(ARGV[o]), tonumber(ARGV[o + 1]), tonumber(ARGV[o + 2])
  local v, debt, settled = redis.pcall('GET', key), 0, false
  if v then
    local q, r = nil, 0
    if rate <= 1 then
      q = tonumber(v)
    elseif type(v) == 'string' and #v == 12 then
      q, r = struct.unpack('<dI4', v)
    end
    if q and not (whole(q) and r < math.max(1, rate)) then q = nil end -- it is none of ours
    if rate == 0 then
      if q and q <= units then debt = q end -- of this burst: no clock makes it more
    elseif q and q >= now then
      debt = (q - now) * rate + r
    end
    if debt > units then debt, settled = units, true end
  end
  local taken = most
  if debt + most * unit > units then
    taken = 0
    if least < most then
      taken = math.floor((units - debt) / unit)
      if taken < least then taken = 0 end
    end
  end
  return taken, settled, debt, 0, 0
end

local function bucket_keep(key, o, taken, debt)
  local rate, unit = tonumber(ARGV[o]), tonumber(ARGV[o + 1])
  local owed = debt + taken * unit
  if rate == 0 then
    redis.call('SET', key, owed)
    return
  end
  local ticks = math.floor(owed / rate)
  local r = owed - ticks * rate
  local q = now + ticks
  if rate == 1 then
    keep(key, q, q)
  elseif r == 0 then
    keep(key, struct.pack('<dI4', q, 0), q)
  else
    keep(key, struct.pack('<dI4', q, r), q + 1)
  end
end
