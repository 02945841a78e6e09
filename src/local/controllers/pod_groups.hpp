// The pods that the selectors of services and budgets select, updated as pods change, so that no
// controller has to scan a namespace.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kube/selector.hpp"
#include "local/controllers/shared_informers.hpp"

namespace plim::local::controllers {

// Belongs to one loop; must live as long as the cache calls its handlers.
class PodGroups {
 public:
  // Called if the members of the group with this key, or their relevant fields, have changed.
  using Changed = std::function<void(const std::string& key)>;
  // True if the two pods are equal for the readers of the group.
  using Same = bool (*)(const kube::Pod& a, const kube::Pod& b);

  PodGroups(PodCache& pods, Same same, Changed changed);
  PodGroups(const PodGroups&) = delete;
  PodGroups& operator=(const PodGroups&) = delete;

  void set(const std::string& key, std::string_view ns, const kube::LabelSelector& selector);
  void erase(const std::string& key);
  std::vector<PodPointer> members(const std::string& key) const;
  std::size_t size(const std::string& key) const;

 private:
  struct Group {
    std::string ns;
    kube::LabelSelector selector;
    std::set<std::string> members = {};
  };

  void look(const PodPointer& before, const PodPointer& now);

  PodCache& pods_;
  Same same_;
  Changed changed_;
  std::map<std::string, Group> groups_;
  std::map<std::string, std::set<std::string>, std::less<>> by_namespace_;
};

}  // namespace plim::local::controllers
