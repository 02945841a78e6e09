#include "flow/progress.hpp"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/duration.hpp"

namespace plim::flow {
namespace {

constexpr double kWindow = 30;  // seconds

double seconds_between(SteadyTime from, SteadyTime to) {
  return std::chrono::duration<double>(to - from).count();
}

std::string short_duration(std::chrono::seconds time) {
  return time.count() < 1 ? "<1s" : human_duration(time);
}

std::string scaled(double value, std::span<const std::string_view> units) {
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < units.size()) {
    value /= 1000;
    ++unit;
  }
  int digits = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f}{}", value, digits, units[unit]);
}

}  // namespace

void Rate::update(SteadyTime now, std::uint64_t total) {
  if (!start_) {
    start_ = last_ = now;
    first_total_ = last_total_ = total;
    return;
  }
  const double step = seconds_between(*last_, now);
  if (step < 0.05) return;
  const double age = seconds_between(*start_, now);
  if (age < kWindow) {
    value_ = static_cast<double>(total - first_total_) / age;
  } else {
    const double latest = static_cast<double>(total - last_total_) / step;
    const double weight = 1 - std::exp(-step / kWindow);
    value_ += weight * (latest - value_);
  }
  last_ = now;
  last_total_ = total;
}

std::optional<std::chrono::seconds> RunProgress::eta() const {
  if (!slices_total || slices_per_second <= 0) return std::nullopt;
  if (slices_done >= *slices_total) return std::chrono::seconds(0);
  const double left = static_cast<double>(*slices_total - slices_done) / slices_per_second;
  return std::chrono::seconds(static_cast<std::int64_t>(left));
}

std::string human_count(double value) {
  constexpr std::array<std::string_view, 4> kUnits{"", "k", "M", "G"};
  return scaled(value, kUnits);
}

std::string human_bytes(double value) {
  constexpr std::array<std::string_view, 5> kUnits{" B", " kB", " MB", " GB", " TB"};
  return scaled(value, kUnits);
}

std::string progress_line(const RunProgress& progress) {
  auto eta = progress.eta();
  std::string slices = progress.slices_total
                           ? fmt::format("{}/{}", progress.slices_done, *progress.slices_total)
                           : fmt::format("{}", progress.slices_done);
  return fmt::format(
      "{} {} slices, {} records, {} records/s, {}/s, {} failed, {} re-dispatched, rss {}, eta {}",
      status_name(progress.status), slices, human_count(static_cast<double>(progress.records_in)),
      human_count(progress.records_per_second), human_bytes(progress.bytes_per_second),
      progress.failed, progress.redispatched, human_bytes(static_cast<double>(progress.worker_rss)),
      eta                     ? short_duration(*eta)
      : progress.slices_total ? "soon known"
                              : "unknown");
}

std::string final_line(const RunProgress& progress) {
  return fmt::format(
      "{}: {} records in, {} out, {} slices, {} failed, {} re-dispatched, {} duplicates, {:.2f} s, "
      "rss {} per worker, {} controller",
      status_name(progress.status), progress.records_in, progress.records_out, progress.slices_done,
      progress.failed, progress.redispatched, progress.duplicates,
      std::chrono::duration<double>(progress.elapsed).count(),
      human_bytes(static_cast<double>(progress.worker_rss)),
      human_bytes(static_cast<double>(progress.controller_rss)));
}

json::object to_event(const RunProgress& progress, std::string_view event) {
  json::object out{{"event", event},
                   {"status", status_name(progress.status)},
                   {"processed", progress.slices_done},
                   {"failed", progress.failed},
                   {"queued", progress.queued},
                   {"total_known", progress.slices_total.has_value()},
                   {"records", progress.records_in},
                   {"records_out", progress.records_out},
                   {"bytes", progress.bytes},
                   {"rate_slices", progress.slices_per_second},
                   {"rate_records", progress.records_per_second},
                   {"redispatched", progress.redispatched},
                   {"duplicates", progress.duplicates},
                   {"workers", progress.workers},
                   {"worker_rss", progress.worker_rss},
                   {"elapsed_seconds", std::chrono::duration<double>(progress.elapsed).count()}};
  if (progress.slices_total) out["total_slices"] = *progress.slices_total;
  if (auto eta = progress.eta()) out["eta_seconds"] = eta->count();
  return out;
}

}  // namespace plim::flow
