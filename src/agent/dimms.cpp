#include "agent/dimms.hpp"

#include <chrono>

#include "base/log.hpp"
#include "base/subprocess.hpp"
#include "base/text.hpp"

namespace plim::agent {
namespace {

constexpr std::uint64_t kBytesPerTransfer = 8, kMega = 1'000'000;
constexpr std::chrono::seconds kToolTimeout{10};

struct Module {
  std::string_view size, type, detail, speed;
};

// "16 GB", "16384 MB"; 0 for "No Module Installed".
std::uint64_t size_in_bytes(std::string_view text) {
  auto [digits, unit] = cut(text, ' ');
  const std::uint64_t number = parse_int<std::uint64_t>(digits).value_or(0);
  const int shift = unit == "TB"   ? 40
                    : unit == "GB" ? 30
                    : unit == "MB" ? 20
                    : unit == "kB" ? 10
                                   : 0;
  if (shift == 0 || number > ~std::uint64_t{0} >> shift) return 0;
  return number << shift;
}

void add_module(const Module& module, Dimms& out) {
  const std::uint64_t bytes = size_in_bytes(module.size);
  if (bytes == 0) return;
  const bool is_nvm = module.detail.find("Non-Volatile") != module.detail.npos;
  const bool is_ram = module.type == "DDR3" || module.type == "DDR4" || module.type == "DDR5";
  if (!is_nvm && !is_ram) return;
  DimmKind& kind = is_nvm ? out.nvm : out.ram;
  ++kind.count;
  kind.bytes += bytes;
  if (is_nvm) return;
  auto [digits, unit] = cut(module.speed, ' ');
  if (unit == "MT/s" || unit == "MHz")
    out.ram_bytes_per_second +=
        parse_int<std::uint32_t>(digits).value_or(0) * kMega * kBytesPerTransfer;
}

}  // namespace

Dimms parse_dimms(std::string_view text) {
  Dimms out;
  Module module;
  bool inside = false;
  const auto end_module = [&] {
    if (inside) add_module(module, out);
    inside = false;
    module = {};
  };
  for (std::string_view line : split(text, '\n')) {
    if (!line.starts_with('\t')) {
      end_module();
      inside = trim(line) == "Memory Device";
      continue;
    }
    auto [left, right] = cut(line, ':');
    const std::string_view key = trim(left), value = trim(right);
    if (key == "Size") module.size = value;
    if (key == "Type") module.type = value;
    if (key == "Type Detail") module.detail = value;
    if (key == "Speed") module.speed = value;
  }
  end_module();
  return out;
}

Task<Result<std::optional<Dimms>>> read_dimms(std::optional<bool> wanted) {
  std::optional<Dimms> out;
  if (!wanted.value_or(true)) co_return out;
  Command command;
  command.argv = {"dmidecode", "--quiet", "-t", "memory"};
  command.timeout = kToolTimeout;
  auto done = co_await plim::run(std::move(command));
  std::string trouble;
  if (!done)
    trouble = done.error().message;
  else if (!done->exit.ok())
    trouble = "dmidecode: " + done->exit.describe();
  else
    out = parse_dimms(done->out.text);
  if (out && *out == Dimms{}) {
    trouble = "dmidecode lists no memory modules";
    out.reset();
  }
  if (!out && wanted)
    co_return fail(Code::unavailable, "gather_hw_mm_topology is true, but " + trouble);
  if (!out) log::debug("measure", "no data about memory modules", {{"reason", trouble}});
  co_return out;
}

DimmSeries::DimmSeries(MetricTable& table, const Labels& common, const Dimms& dimms)
    : table_(table) {
  const auto count = table.family("platform_dimm_count", MetricType::gauge, "Memory modules");
  const auto size = table.family("platform_dimm_total_size_bytes", MetricType::gauge,
                                 "Size of all memory modules of a kind");
  const auto add = [&](const char* type, const DimmKind& kind) {
    Labels labels = common;
    labels.try_emplace("dimm_type", type);
    const MetricTable::LabelsId id = table.add_labels(labels);
    all_.push_back({table.add(count, id), kind.count});
    all_.push_back({table.add(size, id), kind.bytes});
  };
  add("ram", dimms.ram);
  add("nvm", dimms.nvm);
  if (dimms.ram_bytes_per_second == 0) return;
  const auto speed = table.family("platform_dimm_speed_bytes_per_second", MetricType::gauge,
                                  "Maximum transfer rate of all RAM modules together");
  all_.push_back({table.add(speed, table.add_labels(common)), dimms.ram_bytes_per_second});
}

void DimmSeries::set() {
  for (const One& one : all_) table_.set(one.series, one.value);
}

}  // namespace plim::agent
