-- Fields of captures of ethbus for Wireshark and tshark, 4.0 and later; see docs/seeing.md.
--
--     tshark -X lua_script:ethbus.lua -r run.pcapng -Y 'ethbus.backoff.slots > 100'
--
-- The rows of the interface "bus" are JSON, and the comments of frames are sentences. This script gives each of their
-- values a field. It knows nothing else of the bus.

local ethbus = Proto("ethbus", "ethbus")

-- Each column of a row: its field, the field's type, and what it is. Columns without a line here have no field.
local columns = {
    t = { "t", "uint64", "Bit times since the bus began" },
    layer = { "layer", "string", "Layer" },
    kind = { "kind", "string", "Kind of event" },
    station = { "station", "string", "Station" },
    frame = { "frame", "string", "Frame" },
    says = { "says", "string", "What happened" },
    episode = { "episode", "uint64", "Collision on this medium; 0 is a logical one of PLCA" },
    attempt = { "attempt", "uint32", "Attempt" },
    attempts = { "attempts", "uint32", "Attempts" },
    late = { "late", "bool", "Late collision" },
    with = { "with", "string", "Frame that it met" },
    segment = { "segment", "uint32", "Segment" },
    position_bt = { "position_bt", "uint64", "Place on the cable in bit times" },
    slots = { "backoff.slots", "uint64", "Slots of backoff" },
    cause = { "cause", "string", "Cause" },
    size = { "size", "uint32", "Octets" },
    bits = { "bits", "uint64", "Bits after the SFD" },
    reserves = { "reserves", "uint64", "Bit times that it reserves the medium for" },
    id = { "id", "uint32", "PLCA id" },
    turns = { "turns", "uint32", "PLCA node count" },
    empty = { "empty", "uint64", "Empty cycles" },
    length = { "length", "uint64", "Cycle in bit times" },
    ok = { "ok", "bool", "plca_status is OK" },
    fault = { "fault", "string", "Fault" },
    ns = { "ns", "int64", "Nanoseconds" },
    real_ns = { "real_ns", "uint64", "Real nanoseconds since the bus began" },
    copies = { "copies", "uint64", "Copies" },
    count = { "count", "uint64", "Count" },
    absent = { "absent", "bool", "The station's interface is gone" },
    state = { "state", "string", "Port" },
    inputs = { "inputs", "uint64", "Inputs that are missing" },
    events = { "events", "uint64", "Events that are missing" },
    access_delay = { "access_delay", "relative_time", "Access delay" },
    mac_delay = { "mac_delay", "relative_time", "MAC delay" },
}

local fields = {}
for column, of in pairs(columns) do
    fields[column] = ProtoField[of[2]]("ethbus." .. of[1], of[3])
    table.insert(ethbus.fields, fields[column])
end

-- What a comment of a frame says, and the column that this is.
local said = {
    attempt = "^%S+, attempt (%d+)",
    episode = "collision (%d+) on this medium",
    access_delay = "access delay (%d+) ns",
    mac_delay = "MAC delay (%d+) ns",
}

local interface, comment = Field.new("frame.interface_name"), Field.new("frame.comment")
local ether_type = Field.new("eth.type")
local LOCAL_EXPERIMENT = 0x88b5

-- A number as a value of a field's type.
local function typed(column, text)
    local kind = columns[column][2]
    if kind == "uint64" then return UInt64(tonumber(text)) end
    if kind == "int64" then return Int64(tonumber(text)) end
    if kind == "relative_time" then
        local ns = tonumber(text)
        return NSTime.new(math.floor(ns / 1e9), ns % 1e9)
    end
    return tonumber(text)
end

-- Calls `each` with the columns of a row in their order, and with their values as text. A list calls it for each of its
-- texts; `null` and objects are passed over.
local function walk(json, each)
    -- Escaped quotes are put aside, so that a text ends at the next quote.
    json = json:gsub("\\\\", "\1"):gsub('\\"', "\2")
    local function plain(text) return (text:gsub("\2", '"'):gsub("\1", "\\")) end
    local at = 2
    while true do
        local _, after, column = json:find('^,?"([^"]+)":', at)
        if not after then return end
        local value = json:match('^"[^"]*"', after + 1) or json:match("^%b[]", after + 1)
            or json:match("^%b{}", after + 1) or json:match("^[^,}]+", after + 1)
        if not value then return end
        local first = value:sub(1, 1)
        if first == '"' or first == "[" then
            for text in value:gmatch('"([^"]*)"') do each(column, plain(text)) end
        elseif first ~= "{" and value ~= "null" then
            each(column, value)
        end
        at = after + #value + 1
    end
end

local function add(tree, range, column, text)
    local of = columns[column]
    if not of then return end
    local value = text
    if of[2] == "bool" then value = text == "true" elseif of[2] ~= "string" then value = typed(column, text) end
    tree:add(fields[column], range, value)
end

-- A row of the interface "bus".
local function row(tvb, pinfo, tree)
    local raw = tvb:raw()
    local begin = raw:find("{", 1, true)
    if not begin then return end
    local range = tvb(begin - 1)
    tree = tree:add(ethbus, range)
    walk(raw:sub(begin), function(column, text)
        add(tree, range, column, text)
        if column == "kind" then pinfo.cols.protocol = text:upper() end
        if column == "station" then pinfo.cols.src = text end
        if column == "says" then pinfo.cols.info = text end
    end)
end

-- A frame with a comment of ethbus.
local function frame(tvb, pinfo, tree, text, station)
    local name = text:match("^(%S+#%d+), attempt ")
    if not name then return end
    tree = tree:add(ethbus, tvb())
    add(tree, tvb(), "frame", name)
    add(tree, tvb(), "station", station)
    for column, pattern in pairs(said) do
        local value = text:match(pattern)
        if value then add(tree, tvb(), column, value) end
    end
    add(tree, tvb(), "says", text)
    -- A frame of other protocols keeps their words.
    local kind = ether_type()
    if kind and kind.value ~= LOCAL_EXPERIMENT then return end
    if not kind then pinfo.cols.src = station end
    pinfo.cols.protocol = kind and "FRAME" or "FRAGMENT"
    pinfo.cols.info = text
end

function ethbus.dissector(tvb, pinfo, tree)
    local on, text = interface(), comment()
    if not on then return end
    if on.value == "bus" then
        row(tvb, pinfo, tree)
    elseif text then
        frame(tvb, pinfo, tree, text.value, on.value)
    end
end

register_postdissector(ethbus)
