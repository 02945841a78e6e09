#include "local/kubelet/runtime/volumes.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "base/base64.hpp"
#include "base/beneath.hpp"
#include "base/fd.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "kube/object.hpp"
#include "kube/paths.hpp"

namespace plim::local::kubelet {

namespace {

// Where DaemonSets look for the kubelet, for locks of agents and for the container runtime, and
// where they install programs for containers.
constexpr std::string_view kKubeletDirectory = "/var/lib/kubelet";
constexpr std::string_view kRunDirectory = "/run/plimsoll";
constexpr std::array<std::string_view, 2> kRuntimeDirectories{"/run/containerd",
                                                              "/var/run/containerd"};
constexpr std::string_view kProgramDirectory = "/opt/bin";

Result<void> check_inside(std::string_view path) {
  bool fine = !path.empty() && path.front() != '/' && path.find('\0') == path.npos;
  for (std::string_view part : split(path, '/')) fine = fine && part != ".." && !part.empty();
  if (fine) return {};
  return fail(Code::invalid, fmt::format("path {} leads out of its volume", quote(path)));
}

class FileMaker {
 public:
  FileMaker(const json::value& pod, const PodPlace& place, const PodSources& sources)
      : pod_(pod), place_(place), sources_(sources) {}

  Result<void> add(std::string path, std::string content, std::optional<std::int64_t> mode) {
    PLIM_CHECK(check_inside(path));
    std::erase_if(files_, [&](const VolumeFile& file) { return file.path == path; });
    files_.push_back(
        {std::move(path), std::move(content), static_cast<mode_t>(mode.value_or(default_mode_))});
    return {};
  }

  // Files of a configMap or secret: all keys, or the listed items. The sources of both have the
  // same fields, except for the name.
  Result<void> add_object(const json::value& source, std::string_view name, bool secret) {
    const auto& map = secret ? sources_.secrets : sources_.config_maps;
    const auto found = map.find(std::string(name));
    const bool optional = kube::bool_at(source, "ConfigMapVolumeSource.optional");
    if (found == map.end()) {
      if (optional) return {};
      return fail(Code::not_found,
                  fmt::format("{} \"{}\" not found", secret ? "secret" : "configmap", name));
    }
    const json::array& items = kube::list_at(source, "ConfigMapVolumeSource.items");
    if (items.empty()) {
      const json::value* texts = kube::find(found->second, "ConfigMap.data");
      const json::value* binaries = kube::find(found->second, "ConfigMap.binaryData");
      for (const json::value* data : {texts, binaries}) {
        if (data == nullptr || !data->is_object()) continue;
        for (const auto& [key, value] : data->as_object())
          PLIM_CHECK(add_key(std::string(key), value, secret || data == binaries, {}));
      }
      return {};
    }
    for (const json::value& item : items) {
      const std::string_view key = kube::text_at(item, "KeyToPath.key");
      const json::value* text = kube::find(found->second, "ConfigMap.data", key);
      const json::value* binary = kube::find(found->second, "ConfigMap.binaryData", key);
      if (text == nullptr && binary == nullptr) {
        if (optional) continue;
        return fail(Code::not_found, fmt::format("references non-existent {} key: {}",
                                                 secret ? "secret" : "config", key));
      }
      PLIM_CHECK(add_key(std::string(kube::text_at(item, "KeyToPath.path")),
                         text != nullptr ? *text : *binary, secret || text == nullptr,
                         kube::int_at(item, "KeyToPath.mode")));
    }
    return {};
  }

  Result<void> add_downward(const json::value& source) {
    for (const json::value& item : kube::list_at(source, "DownwardAPIVolumeSource.items")) {
      std::string text;
      if (const json::value* resource =
              kube::find(item, "DownwardAPIVolumeFile.resourceFieldRef")) {
        PLIM_TRY(text, resource_value(pod_, json::value(), place_, *resource));
      } else {
        PLIM_TRY(text,
                 field_value(pod_, place_,
                             kube::text_at(item, "DownwardAPIVolumeFile.fieldRef.fieldPath")));
      }
      PLIM_CHECK(add(std::string(kube::text_at(item, "DownwardAPIVolumeFile.path")),
                     std::move(text), kube::int_at(item, "DownwardAPIVolumeFile.mode")));
    }
    return {};
  }

  Result<void> add_token(const json::value& source) {
    const TokenNeed need{
        std::string(kube::text_at(source, "ServiceAccountTokenProjection.audience")),
        kube::int_at(source, "ServiceAccountTokenProjection.expirationSeconds").value_or(3600)};
    const auto found = sources_.tokens.find(need);
    if (found == sources_.tokens.end()) return fail(Code::not_found, "no service account token");
    return add(std::string(kube::text_at(source, "ServiceAccountTokenProjection.path")),
               found->second, runs_as_others() ? 0644 : 0600);
  }

  Result<void> add_source(const json::value& source) {
    if (const json::value* map = kube::find(source, "VolumeProjection.configMap"))
      PLIM_CHECK(add_object(*map, kube::text_at(*map, "ConfigMapProjection.name"), false));
    if (const json::value* secret = kube::find(source, "VolumeProjection.secret"))
      PLIM_CHECK(add_object(*secret, kube::text_at(*secret, "SecretProjection.name"), true));
    if (const json::value* downward = kube::find(source, "VolumeProjection.downwardAPI"))
      PLIM_CHECK(add_downward(*downward));
    if (const json::value* token = kube::find(source, "VolumeProjection.serviceAccountToken"))
      PLIM_CHECK(add_token(*token));
    return {};
  }

  // The sources of all these volumes have the field.
  void set_default_mode(const json::value& source) {
    default_mode_ = kube::int_at(source, "ConfigMapVolumeSource.defaultMode").value_or(0644);
  }

  std::vector<VolumeFile> take() { return std::move(files_); }

 private:
  // The users that the pod names must be able to read its token too. The cluster's directory is
  // closed to all other users of the machine.
  bool runs_as_others() const {
    const auto names = [](const json::value& value, kube::IntPath user) {
      return kube::int_at(value, user).value_or(0) != 0;
    };
    if (names(pod_, "Pod.spec.securityContext.runAsUser") ||
        names(pod_, "Pod.spec.securityContext.fsGroup"))
      return true;
    for (kube::ListPath list :
         {kube::ListPath("Pod.spec.containers"), kube::ListPath("Pod.spec.initContainers")})
      for (const json::value& container : kube::list_at(pod_, list))
        if (names(container, "Container.securityContext.runAsUser")) return true;
    return false;
  }

  Result<void> add_key(std::string path, const json::value& value, bool encoded,
                       std::optional<std::int64_t> mode) {
    if (!value.is_string()) return {};
    std::string text(value.as_string());
    if (encoded) {
      PLIM_TRY(text, base64_decode(value.as_string()));
    }
    return add(std::move(path), std::move(text), mode);
  }

  const json::value& pod_;
  const PodPlace& place_;
  const PodSources& sources_;
  std::int64_t default_mode_ = 0644;
  std::vector<VolumeFile> files_;
};

// Closed to other users, unlike the volumes in it.
std::string memory_directory(const json::value& pod) {
  return fmt::format("/dev/shm/plimsoll-{}", kube::uid_of(pod));
}

std::string memory_path(const json::value& pod, const json::value& volume) {
  return fmt::format("{}/{}", memory_directory(pod), kube::text_at(volume, "Volume.name"));
}

bool wants_memory(const json::value& volume) {
  return kube::text_at(volume, "Volume.emptyDir.medium") == "Memory" &&
         ::access("/dev/shm", W_OK) == 0;
}

// Every user in the pod may write there, independent of the umask.
Result<void> make_open_directory(const std::string& path) {
  PLIM_CHECK(make_directories(path));
  if (::chmod(path.c_str(), 0777) != 0) return fail_errno(errno, path);
  return {};
}

// Everybody may create entries in /dev/shm, so one that exists may be a trap.
Result<void> make_memory_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) == 0) return {};
  struct stat info{};
  const bool ours = errno == EEXIST && ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) &&
                    info.st_uid == ::geteuid() && (info.st_mode & (S_IRWXG | S_IRWXO)) == 0;
  if (ours) return {};
  return fail(Code::forbidden, fmt::format("cannot use {}: somebody else has created it", path));
}

// The name becomes a part of a path.
Result<void> check_claim(std::string_view name) {
  if (!name.empty() && name.find('/') == name.npos && name != "." && name != ".." &&
      name.find('\0') == name.npos)
    return {};
  return fail(Code::invalid,
              fmt::format("{} is not the name of a PersistentVolumeClaim", quote(name)));
}

Result<void> check_host_path(const json::value& volume, const VolumeRoots& roots) {
  const std::string path = host_path(kube::text_at(volume, "Volume.hostPath.path"), roots);
  const std::string_view type = kube::text_at(volume, "Volume.hostPath.type");
  if (type == "DirectoryOrCreate") return make_directories(path);
  struct stat info{};
  const bool there = ::stat(path.c_str(), &info) == 0;
  if (type == "FileOrCreate" && !there) {
    Fd made(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    if (!made) return fail_errno(errno, path);
    return {};
  }
  const bool wrong = !there || (type == "Directory" && !S_ISDIR(info.st_mode)) ||
                     (type == "File" && !S_ISREG(info.st_mode)) ||
                     (type == "Socket" && !S_ISSOCK(info.st_mode));
  if (type.empty() && !there) return make_directories(path);
  if (wrong)
    return fail(Code::invalid, fmt::format("hostPath type check failed: {} is not a {}", path,
                                           to_lower(type.empty() ? "directory" : type)));
  return {};
}

Result<void> write_volume(const std::string& directory, const std::vector<VolumeFile>& files) {
  PLIM_CHECK(make_directories(directory));
  PLIM_TRY(const Beneath volume, Beneath::open(directory));
  for (const VolumeFile& file : files)
    PLIM_CHECK(volume.write_file(file.path, file.content, file.mode));
  return {};
}

Result<void> make_volume(const json::value& pod, const json::value& volume, const PodPlace& place,
                         const PodSources& sources, const VolumeRoots& roots) {
  const std::string path = volume_path(pod, volume, roots);
  if (kube::find(volume, "Volume.hostPath") != nullptr) return check_host_path(volume, roots);
  if (kube::find(volume, "Volume.persistentVolumeClaim") != nullptr) {
    PLIM_CHECK(check_claim(kube::text_at(volume, "Volume.persistentVolumeClaim.claimName")));
    return make_open_directory(path);
  }
  if (kube::find(volume, "Volume.emptyDir") != nullptr) {
    if (wants_memory(volume)) PLIM_CHECK(make_memory_directory(memory_directory(pod)));
    return make_open_directory(path);
  }
  PLIM_TRY(const auto files, volume_files(pod, volume, place, sources));
  return write_volume(path, files);
}

// Whether the node writes the files, while containers only read them.
bool has_files(const json::value& volume) {
  return kube::find(volume, "Volume.configMap") != nullptr ||
         kube::find(volume, "Volume.secret") != nullptr ||
         kube::find(volume, "Volume.downwardAPI") != nullptr ||
         kube::find(volume, "Volume.projected") != nullptr;
}

}  // namespace

Result<std::vector<VolumeFile>> volume_files(const json::value& pod, const json::value& volume,
                                             const PodPlace& place, const PodSources& sources) {
  FileMaker maker(pod, place, sources);
  if (const json::value* map = kube::find(volume, "Volume.configMap")) {
    maker.set_default_mode(*map);
    PLIM_CHECK(maker.add_object(*map, kube::text_at(*map, "ConfigMapVolumeSource.name"), false));
  } else if (const json::value* secret = kube::find(volume, "Volume.secret")) {
    maker.set_default_mode(*secret);
    PLIM_CHECK(
        maker.add_object(*secret, kube::text_at(*secret, "SecretVolumeSource.secretName"), true));
  } else if (const json::value* downward = kube::find(volume, "Volume.downwardAPI")) {
    maker.set_default_mode(*downward);
    PLIM_CHECK(maker.add_downward(*downward));
  } else if (const json::value* projected = kube::find(volume, "Volume.projected")) {
    maker.set_default_mode(*projected);
    for (const json::value& source : kube::list_at(*projected, "ProjectedVolumeSource.sources"))
      PLIM_CHECK(maker.add_source(source));
  } else {
    return fail(Code::unimplemented, "this kind of volume is not supported on local nodes");
  }
  return maker.take();
}

std::string host_path(std::string_view path, const VolumeRoots& roots) {
  std::string_view place = path;
  while (place.size() > 1 && place.ends_with('/')) place.remove_suffix(1);
  const auto below = [&](std::string_view directory) {
    return place == directory || place.starts_with(std::string(directory) + "/");
  };
  if (!roots.kubelet.empty()) {
    if (below(kKubeletDirectory))
      return roots.kubelet + std::string(place.substr(kKubeletDirectory.size()));
    if (place == kRunDirectory) return roots.kubelet;
    for (const std::string_view directory : kRuntimeDirectories)
      if (below(directory))
        return roots.kubelet + "/containerd" + std::string(place.substr(directory.size()));
  }
  if (roots.host.empty()) return std::string(path);
  std::string own = roots.host + std::string(place);
  std::error_code ignored;
  if (!below(kProgramDirectory))
    return std::filesystem::is_regular_file(own, ignored) ? own : std::string(path);
  const bool machines = place != kProgramDirectory && !std::filesystem::exists(own, ignored) &&
                        std::filesystem::exists(std::string(place), ignored);
  return machines ? std::string(path) : own;
}

std::string volume_path(const json::value& pod, const json::value& volume,
                        const VolumeRoots& roots) {
  if (const std::string_view path = kube::text_at(volume, "Volume.hostPath.path"); !path.empty())
    return host_path(path, roots);
  if (wants_memory(volume)) return memory_path(pod, volume);
  if (const std::string_view claim =
          kube::text_at(volume, "Volume.persistentVolumeClaim.claimName");
      !claim.empty())
    return fmt::format("{}/{}/{}", roots.claims, kube::namespace_of(pod), claim);
  return fmt::format("{}/volumes/{}", roots.pod, kube::text_at(volume, "Volume.name"));
}

Result<void> make_volumes(const json::value& pod, const PodPlace& place, const PodSources& sources,
                          const VolumeRoots& roots) {
  for (const json::value& volume : kube::list_at(pod, "Pod.spec.volumes")) {
    if (auto made = make_volume(pod, volume, place, sources, roots); !made) {
      Error error = made.error();
      error.message = fmt::format("MountVolume.SetUp failed for volume \"{}\" : {}",
                                  kube::text_at(volume, "Volume.name"), error.message);
      return error;
    }
    // Programs without mounts find every volume by its name in one directory.
    const std::string path = volume_path(pod, volume, roots);
    const std::string link =
        fmt::format("{}/volumes/{}", roots.pod, kube::text_at(volume, "Volume.name"));
    std::error_code ignored;
    if (path != link) std::filesystem::create_symlink(path, link, ignored);
  }
  return {};
}

void remove_volumes(const json::value& pod) {
  for (const json::value& volume : kube::list_at(pod, "Pod.spec.volumes")) {
    if (!wants_memory(volume)) continue;
    std::error_code ignored;
    std::filesystem::remove_all(memory_directory(pod), ignored);
  }
}

Result<std::vector<ShimMount>> container_mounts(const json::value& pod,
                                                const json::value& container,
                                                const VolumeRoots& roots,
                                                const Environment& environment) {
  std::vector<ShimMount> out;
  for (const json::value& mount : kube::list_at(container, "Container.volumeMounts")) {
    const json::value* volume = nullptr;
    for (const json::value& candidate : kube::list_at(pod, "Pod.spec.volumes"))
      if (kube::text_at(candidate, "Volume.name") == kube::text_at(mount, "VolumeMount.name"))
        volume = &candidate;
    if (volume == nullptr)
      return fail(Code::not_found,
                  fmt::format("the mount names volume {}, which the pod does not have",
                              quote(kube::text_at(mount, "VolumeMount.name"))));
    ShimMount made{.from = volume_path(pod, *volume, roots),
                   .to = std::string(kube::text_at(mount, "VolumeMount.mountPath")),
                   .read_only = has_files(*volume) || kube::bool_at(mount, "VolumeMount.readOnly")};
    std::string below(kube::text_at(mount, "VolumeMount.subPath"));
    if (below.empty()) below = expand(kube::text_at(mount, "VolumeMount.subPathExpr"), environment);
    if (!below.empty()) {
      PLIM_CHECK(check_inside(below));
      PLIM_TRY(const Beneath inside, Beneath::open(made.from));
      const auto found = inside.find(below);
      if (!found && found.error().code != Code::not_found) return found.error();
      if (!found) PLIM_CHECK(inside.make_directories(below, 0777));
      made.volume = std::exchange(made.from, made.from + "/" + below);
    }
    if (!made.to.starts_with('/')) made.to.insert(0, "/");
    out.push_back(std::move(made));
  }
  // Outer mounts first, or they would hide the inner ones.
  std::sort(out.begin(), out.end(),
            [](const ShimMount& a, const ShimMount& b) { return a.to < b.to; });
  return out;
}

}  // namespace plim::local::kubelet
