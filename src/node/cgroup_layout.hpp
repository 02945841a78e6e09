// Where the cgroup hierarchies of a machine are mounted, and where a process is in them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plim::node {

struct CgroupMount {
  std::string directory;   // with the host root
  std::string root = "/";  // the cgroup at the mount point; not "/" in some containers
  std::vector<std::string> controllers = {};  // also "name=systemd"; for v2, those of its root
  bool v2 = false;
  bool read_only = false;

  bool has(std::string_view controller) const;
};

// A controller belongs to one hierarchy. Version 1 has one mount for each controller or for
// several, version 2 one for all; a hybrid machine has both, and its version 2 may have no
// controllers.
struct CgroupLayout {
  std::vector<CgroupMount> mounts;

  const CgroupMount* find(std::string_view controller) const;  // null if this machine lacks it
  const CgroupMount* unified() const;                          // the mount of version 2, or null
  bool is_v2() const;                                          // version 1 has no controllers
};

// Reads /proc/1/mountinfo below `host_root`. If that fails and the root is not "/", reads the
// directories in sys/fs/cgroup there, as in trees for tests; otherwise /proc/self/mountinfo.
CgroupLayout detect_cgroups(const std::string& host_root);
CgroupLayout parse_cgroup_mounts(std::string_view mountinfo, const std::string& host_root);

// The lines of /proc/<pid>/cgroup: "4:memory:/a/b".
class CgroupMembership {
 public:
  static CgroupMembership parse(std::string_view text);
  // The path in that hierarchy, at least "/".
  std::string path_in(const CgroupMount& mount) const;

 private:
  struct Line {
    std::vector<std::string> controllers;  // empty for version 2
    std::string path;
  };

  std::vector<Line> lines_;
};

// The trimmed content such as "0-3", "" if it cannot be read.
std::string read_cgroup_file(const std::string& path);

}  // namespace plim::node
