#include "node/cgroup_names.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace plim::node {
namespace {

constexpr std::int64_t kMinQuotaUs = 1000;

std::string_view part_of(Qos qos) {
  return qos == Qos::burstable ? "burstable" : "besteffort";
}

}  // namespace

std::string_view driver_name(CgroupDriver driver) {
  return driver == CgroupDriver::cgroupfs ? "cgroupfs" : "systemd";
}

std::string_view qos_name(Qos qos) {
  switch (qos) {
    case Qos::guaranteed:
      return "Guaranteed";
    case Qos::burstable:
      return "Burstable";
    case Qos::best_effort:
      break;
  }
  return "BestEffort";
}

std::string qos_cgroup(CgroupDriver driver, Qos qos) {
  if (driver == CgroupDriver::cgroupfs)
    return qos == Qos::guaranteed ? "kubepods" : fmt::format("kubepods/{}", part_of(qos));
  return qos == Qos::guaranteed ? "kubepods.slice"
                                : fmt::format("kubepods.slice/kubepods-{}.slice", part_of(qos));
}

std::string pod_cgroup(CgroupDriver driver, Qos qos, std::string_view uid) {
  const std::string parent = qos_cgroup(driver, qos);
  if (driver == CgroupDriver::cgroupfs) return fmt::format("{}/pod{}", parent, uid);
  std::string escaped(uid);  // a dash separates the levels of slices
  std::ranges::replace(escaped, '-', '_');
  if (qos == Qos::guaranteed) return fmt::format("{}/kubepods-pod{}.slice", parent, escaped);
  return fmt::format("{}/kubepods-{}-pod{}.slice", parent, part_of(qos), escaped);
}

std::string container_cgroup(CgroupDriver driver, std::string_view id, std::string_view prefix) {
  return driver == CgroupDriver::cgroupfs ? std::string(id)
                                          : fmt::format("{}-{}.scope", prefix, id);
}

bool is_path_part(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.size() <= 255 &&
         name.find('/') == name.npos && name.find('\0') == name.npos;
}

std::int64_t shares_of(std::int64_t milli_cpu) {
  constexpr std::int64_t kMostMilli = kMaxShares * 1000 / 1024;
  if (milli_cpu >= kMostMilli) return kMaxShares;
  return std::max(kMinShares, milli_cpu * 1024 / 1000);
}

std::int64_t weight_of_shares(std::int64_t shares) {
  const std::int64_t held = std::clamp(shares, kMinShares, kMaxShares);
  return 1 + (held - kMinShares) * 9999 / (kMaxShares - kMinShares);
}

std::int64_t quota_us_of(std::int64_t milli_cpu) {
  constexpr std::int64_t kMostMilli = std::int64_t{1} << 40;  // far from an overflow
  return std::max(kMinQuotaUs, std::min(milli_cpu, kMostMilli) * kCpuPeriodUs / 1000);
}

}  // namespace plim::node
