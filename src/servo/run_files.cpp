#include "servo/run_files.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/rfc3339.hpp"
#include "base/text.hpp"

namespace plim::servo {
namespace {

constexpr std::size_t kLargestSegment = std::size_t{128} << 20;  // one record may exceed the limit

// The runs of one segment, oldest first; none if the segment was removed.
Result<std::vector<StoredRun>> read_segment(const JournalFiles& files, std::uint64_t segment) {
  std::vector<StoredRun> out;
  auto bytes = read_file(files.path_of(segment), kLargestSegment);
  if (!bytes && bytes.error().code == Code::not_found) return out;
  if (!bytes) return bytes.error();
  const RecordExpectation header{files.kind, files.version, segment};
  auto visit = [&](std::uint64_t offset, std::string_view record) -> Result<void> {
    auto entry = decode_entry(record);
    if (!entry) return {};
    if (auto* run = std::get_if<RunEntry>(&*entry))
      out.push_back({.run = std::move(run->run), .at = {segment, offset}});
    return {};
  };
  PLIM_CHECK(scan_records(*bytes, header, visit));
  return out;
}

}  // namespace

JournalFiles run_files(std::string directory) {
  return {.directory = std::move(directory), .kind = record_kind("RUNS"), .version = 1};
}

std::string_view name_of(SendState state) {
  switch (state) {
    case SendState::kept:
      return "kept";
    case SendState::unsent:
      return "unsent";
    case SendState::sent:
      return "sent";
    case SendState::dead:
      return "dead";
  }
  return "unknown";
}

std::string encode_entry(const StoreEntry& entry) {
  json::object out;
  if (const auto* run = std::get_if<RunEntry>(&entry)) {
    out = {{"kind", "run"}, {"send", run->send}, {"run", loop::run_to_json(run->run)}};
  } else if (const auto* mark = std::get_if<MarkEntry>(&entry)) {
    out = {{"kind", "mark"},
           {"key", mark->key},
           {"state", name_of(mark->state)},
           {"at", format_rfc3339(mark->at)}};
    if (!mark->why.empty()) out["why"] = mark->why;
  } else {
    const auto& known = std::get<KnownEntry>(entry);
    out = {{"kind", "known"},
           {"at", format_rfc3339(known.at)},
           {"keys", json::array(known.keys.begin(), known.keys.end())}};
  }
  return to_json(json::value(std::move(out)));
}

Result<StoreEntry> decode_entry(std::string_view record) {
  PLIM_TRY(json::value value, parse_json(record));
  const std::string_view kind = text_at(value, {"kind"});
  const WallTime at = parse_rfc3339(text_at(value, {"at"})).value_or(WallTime{});
  if (kind == "run") {
    const json::value* run = find(value, {"run"});
    if (run == nullptr) return fail(Code::invalid, "run: missing");
    PLIM_TRY(loop::RunRecord made, loop::run_from_json(*run));
    return RunEntry{std::move(made), bool_at(value, {"send"})};
  }
  if (kind == "mark") {
    const std::string_view state = text_at(value, {"state"});
    if (state != "sent" && state != "dead") return fail(Code::invalid, "state: unknown");
    return MarkEntry{.key = std::string(text_at(value, {"key"})),
                     .state = state == "sent" ? SendState::sent : SendState::dead,
                     .why = std::string(text_at(value, {"why"})),
                     .at = at};
  }
  if (kind != "known") return fail(Code::invalid, fmt::format("kind: unknown {}", quote(kind)));
  return KnownEntry{.keys = texts_at(value, {"keys"}), .at = at};
}

json::object stored_to_json(const StoredRun& run) {
  json::object out = loop::run_to_json(run.run);
  out["state"] = name_of(run.state);
  if (!run.why.empty()) out["why"] = run.why;
  return out;
}

bool RunQuery::matches(const loop::RunRecord& run) const {
  return (app.empty() || run.app == app) && (ns.empty() || run.ns == ns) &&
         (pod.empty() || run.pod == pod) && (!since || run.observed >= *since);
}

std::string format_position(JournalPosition at) {
  return fmt::format("{}.{}", at.segment, at.offset);
}

Result<JournalPosition> parse_position(std::string_view text) {
  auto [segment, offset] = cut(text, '.');
  JournalPosition out;
  PLIM_TRY(out.segment, parse_int<std::uint64_t>(segment));
  PLIM_TRY(out.offset, parse_int<std::uint64_t>(offset));
  return out;
}

Result<RunPage> read_page(const std::string& directory, const RunQuery& query) {
  const JournalFiles files = run_files(directory);
  PLIM_TRY(const std::vector<std::uint64_t> segments, list_segments(directory));
  RunPage out;
  for (auto segment = segments.rbegin(); segment != segments.rend(); ++segment) {
    if (query.before && *segment > query.before->segment) continue;
    PLIM_TRY(std::vector<StoredRun> runs, read_segment(files, *segment));
    for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
      if ((query.before && run->at >= *query.before) || !query.matches(run->run)) continue;
      if (out.runs.size() == query.limit) {
        out.next = out.runs.back().at;
        return out;
      }
      out.runs.push_back(std::move(*run));
    }
    // Runs are in the order of observation, with small exceptions after the clock was set.
    if (query.since && !runs.empty() && runs.back().run.observed < *query.since) return out;
  }
  return out;
}

Result<std::vector<StoredRun>> read_at(const std::string& directory,
                                       std::vector<JournalPosition> wanted) {
  const JournalFiles files = run_files(directory);
  std::ranges::sort(wanted);
  std::vector<StoredRun> out;
  for (std::size_t i = 0; i < wanted.size();) {
    const std::uint64_t segment = wanted[i].segment;
    PLIM_TRY(std::vector<StoredRun> runs, read_segment(files, segment));
    for (StoredRun& run : runs)
      if (std::ranges::binary_search(wanted, run.at)) out.push_back(std::move(run));
    while (i < wanted.size() && wanted[i].segment == segment) ++i;
  }
  return out;
}

Result<RunPage> read_store(const std::string& directory, const RunQuery& query) {
  PLIM_TRY(RunPage page, read_page(directory, query));
  std::map<std::string, StoredRun*> shown;
  for (StoredRun& run : page.runs) shown[run.run.key()] = &run;
  auto visit = [&](JournalPosition, std::string_view record) -> Result<void> {
    auto entry = decode_entry(record);
    if (!entry) return {};
    const auto* run = std::get_if<RunEntry>(&*entry);
    const auto* mark = std::get_if<MarkEntry>(&*entry);
    if (run == nullptr && mark == nullptr) return {};
    auto found = shown.find(run != nullptr ? run->run.key() : mark->key);
    if (found == shown.end()) return {};
    if (run != nullptr && run->send) found->second->state = SendState::unsent;
    if (mark != nullptr) {
      found->second->state = mark->state;
      found->second->why = mark->why;
    }
    return {};
  };
  PLIM_TRY(const JournalScan scan, scan_journal(run_files(directory), visit));
  if (scan.damage) return fail(Code::internal, scan.damage->describe());
  return page;
}

}  // namespace plim::servo
