// Validates schedules of cron jobs: five fields of lists of ranges, or a word such as @daily.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/duration.hpp"
#include "base/result.hpp"
#include "base/text.hpp"
#include "local/apiserver/schema/checks.hpp"

namespace plim::local::apiserver {
namespace {

struct ScheduleField {
  std::int64_t least;
  std::int64_t most;
  std::string_view names;  // names of the numbers, starting at `least`
};

constexpr std::array<ScheduleField, 5> kFields{{
    {0, 59, ""},
    {0, 23, ""},
    {1, 31, ""},
    {1, 12, "jan,feb,mar,apr,may,jun,jul,aug,sep,oct,nov,dec"},
    {0, 6, "sun,mon,tue,wed,thu,fri,sat"},
}};
constexpr std::array<std::string_view, 7> kWords{"@yearly", "@annually", "@monthly", "@weekly",
                                                 "@daily",  "@midnight", "@hourly"};

Result<std::int64_t> number_or_name(std::string_view text, const ScheduleField& field) {
  auto names = split(field.names, ',');
  auto name = std::find(names.begin(), names.end(), to_lower(text));
  if (!field.names.empty() && name != names.end()) return field.least + (name - names.begin());
  auto number = parse_int<std::int64_t>(text);
  if (!number)
    return fail(Code::invalid,
                fmt::format("failed to parse int from {0}: strconv.Atoi: parsing {1}: invalid "
                            "syntax",
                            text, to_json(json::value(text))));
  if (*number < 0)
    return fail(Code::invalid, fmt::format("negative number ({}) not allowed: {}", *number, text));
  return *number;
}

// "1-5/2", "*", "mon".
Result<void> check_range(std::string_view text, const ScheduleField& field) {
  auto halves = split(text, '/');
  auto ends = split(halves[0], '-');
  std::int64_t first = field.least;
  std::int64_t last = field.most;
  if (ends[0] != "*" && ends[0] != "?") {
    PLIM_TRY(first, number_or_name(ends[0], field));
    last = first;
    if (ends.size() > 2) return fail(Code::invalid, fmt::format("too many hyphens: {}", text));
    if (ends.size() == 2) {
      PLIM_TRY(last, number_or_name(ends[1], field));
    }
  }
  std::int64_t step = 1;
  if (halves.size() > 2) return fail(Code::invalid, fmt::format("too many slashes: {}", text));
  if (halves.size() == 2) {
    PLIM_TRY(step, number_or_name(halves[1], ScheduleField{0, 0, ""}));
    if (ends.size() == 1) last = field.most;
  }
  if (first < field.least)
    return fail(Code::invalid, fmt::format("beginning of range ({}) below minimum ({}): {}", first,
                                           field.least, text));
  if (last > field.most)
    return fail(Code::invalid,
                fmt::format("end of range ({}) above maximum ({}): {}", last, field.most, text));
  if (first > last)
    return fail(Code::invalid, fmt::format("beginning of range ({}) beyond end of range ({}): {}",
                                           first, last, text));
  if (step == 0)
    return fail(Code::invalid, fmt::format("step of range should be a positive number: {}", text));
  return {};
}

Result<void> check_word(std::string_view word) {
  constexpr std::string_view kEvery = "@every ";
  if (std::find(kWords.begin(), kWords.end(), word) != kWords.end()) return {};
  if (!word.starts_with(kEvery))
    return fail(Code::invalid, fmt::format("unrecognized descriptor: {}", word));
  if (auto duration = parse_duration(word.substr(kEvery.size())); !duration)
    return fail(Code::invalid,
                fmt::format("failed to parse duration {}: {}", word, duration.error().message));
  return {};
}

Result<void> check_text(std::string_view schedule) {
  if (schedule.starts_with('@')) return check_word(schedule);
  std::vector<std::string_view> fields;
  for (std::string_view field : split(schedule, ' '))
    if (!field.empty()) fields.push_back(field);
  if (fields.size() != kFields.size())
    return fail(Code::invalid, fmt::format("expected exactly {} fields, found {}: [{}]",
                                           kFields.size(), fields.size(), fmt::join(fields, " ")));
  for (std::size_t i = 0; i < fields.size(); ++i)
    for (std::string_view range : split(fields[i], ',')) {
      PLIM_CHECK(check_range(range, kFields[i]));
    }
  return {};
}

}  // namespace

void check_schedule(const Place& schedule, Causes& causes) {
  if (!schedule.value().is_string()) return;
  std::string_view text = schedule.value().get_string();
  if (text.find("TZ") != text.npos)
    return causes.invalid(schedule.path(), schedule.value(),
                          "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
  if (auto checked = check_text(text); !checked)
    causes.invalid(schedule.path(), schedule.value(), checked.error().message);
}

}  // namespace plim::local::apiserver
