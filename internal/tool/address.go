package tool

import "net/netip"

func prefixes(texts ...string) (all []netip.Prefix) {
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

var (
	// notPublic are the IPv4 networks that are not part of the public internet.
	notPublic = prefixes(
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
		"192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
		"203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	)
	// global is the part of IPv6 that is allocated; notGlobal are the blocks of it that
	// lead elsewhere: tunnels, which embed an IPv4 address, and documentation.
	global    = netip.MustParsePrefix("2000::/3")
	notGlobal = prefixes("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
	// metadataHosts serve a cloud machine its own secrets.
	metadataHosts = prefixes("169.254.169.254/32", "169.254.170.2/32", "100.100.100.200/32", "168.63.129.16/32", "fd00:ec2::254/128")
)

func within(addr netip.Addr, networks []netip.Prefix) bool {
	for _, p := range networks {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// public reports whether an address belongs to the public internet. The address must not be
// an IPv4 address mapped into IPv6.
func public(addr netip.Addr) bool {
	if within(addr, metadataHosts) {
		return false
	}
	if addr.Is4() {
		return !within(addr, notPublic)
	}
	return global.Contains(addr) && !within(addr, notGlobal)
}

// metadata reports whether an address is a metadata service that a network includes without
// naming exactly that address.
func metadata(addr netip.Addr, p netip.Prefix) bool {
	return !p.IsSingleIP() && within(addr, metadataHosts)
}
