#include "node/cgroup_names.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.hpp"

namespace plim::node {
namespace {

constexpr std::int64_t kMinQuotaUs = 1000;
constexpr std::string_view kSlice = ".slice", kScope = ".scope";
constexpr std::array<std::string_view, 3> kRuntimePrefixes{"cri-containerd", "crio", "docker"};

std::string_view part_of(Qos qos) {
  return qos == Qos::burstable ? "burstable" : "besteffort";
}

// A dash separates the levels of slices.
std::string slice_part(std::string_view uid) {
  std::string out(uid);
  std::ranges::replace(out, '-', '_');
  return out;
}

struct Slices {
  std::string path;    // "/a.slice/a-b.slice" for "/a/b"
  std::string prefix;  // "a-b-", of the names of those below
};

Slices slices_of(std::string_view root) {
  Slices out;
  for (std::string_view part : split(root, '/')) {
    if (part.empty()) continue;
    out.prefix += std::string(part);
    out.path += fmt::format("/{}{}", out.prefix, kSlice);
    out.prefix += '-';
  }
  return out;
}

std::string with_prefix(std::string_view path, std::string_view prefix) {
  std::string out;
  for (std::string_view part : split(path, '/'))
    if (!part.empty()) out += fmt::format("/{}{}", prefix, part);
  return out;
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

std::optional<Qos> parse_qos(std::string_view name) {
  for (Qos qos : {Qos::guaranteed, Qos::burstable, Qos::best_effort})
    if (name == qos_name(qos)) return qos;
  return std::nullopt;
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
  const std::string escaped = slice_part(uid);
  if (qos == Qos::guaranteed) return fmt::format("{}/kubepods-pod{}.slice", parent, escaped);
  return fmt::format("{}/kubepods-{}-pod{}.slice", parent, part_of(qos), escaped);
}

std::string container_cgroup(CgroupDriver driver, std::string_view id, std::string_view prefix) {
  return driver == CgroupDriver::cgroupfs ? std::string(id)
                                          : fmt::format("{}-{}.scope", prefix, id);
}

std::vector<std::string> pod_cgroup_paths(CgroupDriver driver, const std::string& root, Qos qos,
                                          std::string_view uid) {
  const std::string plain = "/" + pod_cgroup(driver, qos, uid);
  if (driver == CgroupDriver::cgroupfs) return {root + plain};
  std::vector<std::string> out;
  if (!root.empty()) {
    const Slices slices = slices_of(root);
    out.push_back(slices.path + with_prefix(plain, slices.prefix));
  }
  out.push_back(root + plain);
  // No kubelet makes it, but some versions of WCA looked there.
  if (qos == Qos::guaranteed)
    out.push_back(
        fmt::format("{}/kubepods.slice/kubepods-guaranteed.slice/kubepods-guaranteed-pod{}.slice",
                    root, slice_part(uid)));
  return out;
}

std::vector<std::string> container_cgroup_names(CgroupDriver driver, std::string_view runtime,
                                                std::string_view id) {
  auto prefixes = kRuntimePrefixes;
  const std::string_view likeliest = runtime == "docker"  ? "docker"
                                     : runtime == "cri-o" ? "crio"
                                                          : "cri-containerd";
  auto* const found = std::ranges::find(prefixes, likeliest);
  std::rotate(prefixes.begin(), found, found + 1);
  std::vector<std::string> out;
  if (driver == CgroupDriver::cgroupfs) out.emplace_back(id);
  for (std::string_view prefix : prefixes)
    out.push_back(container_cgroup(CgroupDriver::systemd, id, prefix));
  if (driver == CgroupDriver::systemd) out.emplace_back(id);
  return out;
}

std::string pod_uid_of(std::string_view directory) {
  std::string_view rest = directory;
  if (rest.ends_with(kSlice)) {
    rest.remove_suffix(kSlice.size());
    const std::size_t at = rest.rfind("-pod");
    if (!rest.starts_with("kubepods") || at == rest.npos) return {};
    std::string out(rest.substr(at + 4));
    std::ranges::replace(out, '_', '-');
    return out;
  }
  return rest.starts_with("pod") ? std::string(rest.substr(3)) : std::string();
}

std::string container_id_of(std::string_view directory) {
  std::string_view out = directory;
  if (out.ends_with(kScope)) out.remove_suffix(kScope.size());
  for (std::string_view prefix : kRuntimePrefixes)
    if (out.starts_with(prefix) && out.substr(prefix.size()).starts_with('-'))
      return std::string(out.substr(prefix.size() + 1));
  return std::string(out);
}

bool is_qos_cgroup(std::string_view directory) {
  for (Qos qos : {Qos::burstable, Qos::best_effort})
    for (CgroupDriver driver : {CgroupDriver::cgroupfs, CgroupDriver::systemd}) {
      const std::string path = qos_cgroup(driver, qos);
      if (directory == std::string_view(path).substr(path.rfind('/') + 1)) return true;
    }
  return false;
}

bool is_in_pod(std::string_view proc_cgroup) {
  return proc_cgroup.find("/kubepods") != proc_cgroup.npos;
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
