package faults

// auditBugs are defects in what the audit log says. A test of the hub finds them.
var auditBugs = []named{
	{"an admin who acts as somebody is logged as them", "the record names the entity as the one who called"},
}

func auditPlants() []plant {
	return []plant{
		{
			"internal/audit/record.go", "	case caller.Role == shoal.RoleEntity:\n",
			"	case caller.Role == shoal.RoleEntity || rigHas(\"an admin who acts as somebody is logged as them\"):\n",
		},
	}
}
